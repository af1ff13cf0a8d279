package robots

// What the parts of a file take of the memory, in bytes, besides the text in them.
const (
	fileSize  = 768
	nameSize  = 128 // its places in the maps of the file, which are half empty at worst
	groupSize = 48  // for each of its names, of which it may have only one
	ruleSize  = 48  // in a list that has grown
)

// Size returns about how much memory the file takes, in bytes, rather more than
// less. It can be forty times as much as the text, for names of one letter each.
func (f *File) Size() int { return f.size }

// add files a group under a name.
func (f *File) add(name string, g *group) {
	groups, ok := f.agents[name]
	if !ok {
		f.size += nameSize + 2*len(name)
	}
	f.size += groupSize
	f.agents[name] = append(groups, g)
}
