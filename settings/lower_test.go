package settings

import "testing"

// ST-06: a name counts as it is written; one in lower case is no setting.
func TestNamesAreUpperCase(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "crawl.yaml", "jobdir: x\nJOBDIR: y\nBot_Name: z\n")
	s, warnings, err := NewRegistry().Builder().File(file).Build()
	if err != nil || len(warnings) != 2 {
		t.Fatalf("Build: %v, warnings %v, want those of jobdir and Bot_Name", err, warnings)
	}
	for _, name := range []string{"jobdir", "Bot_Name"} {
		if v, ok := s.Lookup(name); ok {
			t.Errorf("Lookup(%s) = %v, want nothing", name, v)
		}
	}
	if v, _ := s.Lookup("JOBDIR"); v.V != "y" {
		t.Errorf("JOBDIR = %v, want y", v.V)
	}
}
