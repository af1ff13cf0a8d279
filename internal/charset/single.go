package charset

import (
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// A language has letters beyond ASCII, the most frequent first, and single-byte
// encodings in which it is written, the most usual first.
type language struct {
	letters string
	latin   bool // writes most of its letters in ASCII
	encs    []*charmap.Charmap
}

func cyrillic() []*charmap.Charmap {
	return []*charmap.Charmap{
		charmap.Windows1251, charmap.KOI8R, charmap.KOI8U, charmap.ISO8859_5, charmap.CodePage866, charmap.MacintoshCyrillic, charmap.CodePage855,
	}
}

func central() []*charmap.Charmap {
	return []*charmap.Charmap{charmap.Windows1250, charmap.ISO8859_2, charmap.ISO8859_16}
}

func baltic() []*charmap.Charmap {
	return []*charmap.Charmap{charmap.Windows1257, charmap.ISO8859_13, charmap.ISO8859_4}
}

// languages are those that are not usually in windows-1252.
func languages() []language {
	greek := []*charmap.Charmap{charmap.Windows1253, charmap.ISO8859_7}
	return []language{
		{"оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", false, cyrillic()},                     // Russian
		{"оаинвитеріслкудмпязьбгчйхцїюєшжщфґ", false, cyrillic()},                    // Ukrainian
		{"аиоетнрсвлкдпмзгяъубчцжщхшйфью", false, cyrillic()},                        // Bulgarian
		{"аоиенрсутјвдкплмзбгчшцњжхћљфђџ", false, cyrillic()},                        // Serbian
		{"αοιετσνηυρπκμλςωάίόγέδήθχφβύξώζψϊϋΐΰ", false, greek},                       // Greek
		{"יוהלאתרבמשנםדקחפעטכסגצזןךףץ", false, hebrew()},                             // Hebrew
		{"اليمونرتبةعدسفهكقحجشطصخضذثزئءأإآؤىغظ", false, arabic()},                    // Arabic
		{"านรอกเ่งยล้ีมัิทวสตะดหปคบแไุพจขใโื็ผถช์ึซูธศภฐษณญฟฝำๆฎฏฬฒ", false, thai()}, // Thai
		{"áéőöóüíúű", true, central()},                                               // Hungarian
		{"łąężóśćńź", true, central()},                                               // Polish
		{"íáěéřčžýšůúťďňó", true, central()},                                         // Czech
		{"áíéčýžšľúťôňďäóĺŕ", true, central()},                                       // Slovak
		{"ăîşţâșț", true, central()},                                                 // Romanian
		{"čšžćđ", true, central()},                                                   // Croatian, Slovenian
		{"ıişüğçöâîû", true, []*charmap.Charmap{charmap.Windows1254}},                // Turkish
		{"ėšųžįčąūę", true, baltic()},                                                // Lithuanian
		{"āīšēūžņčļģķŗ", true, baltic()},                                             // Latvian
	}
}

func hebrew() []*charmap.Charmap {
	return []*charmap.Charmap{charmap.Windows1255, charmap.ISO8859_8}
}

func arabic() []*charmap.Charmap {
	return []*charmap.Charmap{charmap.Windows1256, charmap.ISO8859_6}
}

func thai() []*charmap.Charmap { return []*charmap.Charmap{charmap.Windows874} }

// westerners are the languages of windows-1252.
func westerners() []language {
	var all []language
	for _, letters := range []string{
		"éèàêçâôîùûïëœ", "üäöß", "óíáéñúü¿¡", "ãçéáíóêõâúàôü", "èàùòéì", "äåöé", "æøåéö", "ëéïèöüó",
		"íáðóéöúþæý", "éàèíóòúçïü", "äõöüšž", "áéíóúâêôîñ",
	} {
		all = append(all, language{letters, true, []*charmap.Charmap{charmap.Windows1252}})
	}
	return all
}

// marks are what texts have between letters.
const marks = "\u00a0«»„“”‘’–—…•·©®™°§№€£¿¡\u00ad²³¹½¼¾×÷±µºª´¨¸¶¢¥†‰"

// What a byte stands for.
const (
	other = iota
	lower
	upper
	small // of ASCII
	large // of ASCII
)

// A singleByte tells how likely texts of a language are in an encoding.
type singleByte struct {
	enc   *charmap.Charmap
	latin bool
	prob  [utf8.RuneSelf]float64 // of the bytes from 0x80, as a logarithm to base 2
	kind  [utf8.RuneSelf]uint8
}

func newSingleByte(l language, enc *charmap.Charmap) *singleByte {
	m := &singleByte{enc: enc, latin: l.latin}
	for i := range m.prob {
		r := enc.DecodeByte(byte(utf8.RuneSelf + i))
		p, kind := l.probability(r)
		m.prob[i], m.kind[i] = math.Log2(p), kind
	}
	return m
}

// probability returns how often a character comes among those beyond ASCII.
func (l *language) probability(r rune) (p float64, kind uint8) {
	const (
		ofLetters, ofMarks = 0.92, 0.06
		capitals           = 0.15
		never              = 1e-5
		rare               = 1e-4
	)
	small := unicode.ToLower(r)
	kind = other
	switch {
	case unicode.IsUpper(r):
		kind = upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		kind = lower
	}
	n := utf8.RuneCountInString(l.letters)
	if i := strings.IndexRune(l.letters, small); i >= 0 {
		fall := 3 / float64(n)
		rank := float64(utf8.RuneCountInString(l.letters[:i]))
		p = ofLetters * math.Exp(-fall*rank) * (1 - math.Exp(-fall)) / (1 - math.Exp(-3))
		if r != small {
			p *= capitals
		}
		return p, kind
	}
	switch {
	case r == utf8.RuneError, unicode.IsControl(r):
		return never, other
	case strings.ContainsRune(marks, r):
		return ofMarks / float64(utf8.RuneCountInString(marks)), other
	}
	return rare, kind
}

// bits returns the logarithm of the likelihood of a text.
func (m *singleByte) bits(text []byte) float64 {
	const (
		mixedCase   = 6 // a capital behind a small letter
		mixedScript = 4 // a letter of ASCII next to one that is none
		crowded     = 3 // three letters in a row that are not the usual ones
		alone       = 5 // one that is, of a script that does not write so
	)
	sum, before, last := 0.0, uint8(other), uint8(other)
	for _, c := range text {
		kind := m.kindOf(c)
		if c >= utf8.RuneSelf {
			sum += m.prob[c-utf8.RuneSelf]
			if kind == upper && (last == lower || last == small) {
				sum -= mixedCase
			}
		}
		switch {
		case m.latin:
			if isHigh(before) && isHigh(last) && isHigh(kind) {
				sum -= crowded
			}
		case isHigh(last) && isASCII(kind), isASCII(last) && isHigh(kind):
			sum -= mixedScript
		}
		if !m.latin && isHigh(last) && !isHigh(before) && !isHigh(kind) {
			sum -= alone
		}
		before, last = last, kind
	}
	return sum
}

func (m *singleByte) kindOf(c byte) uint8 {
	switch {
	case c >= utf8.RuneSelf:
		return m.kind[c-utf8.RuneSelf]
	case 'a' <= c && c <= 'z':
		return small
	case 'A' <= c && c <= 'Z':
		return large
	}
	return other
}

func isHigh(kind uint8) bool { return kind == lower || kind == upper }

func isASCII(kind uint8) bool { return kind == small || kind == large }

var singleByteModels = sync.OnceValue(func() []*singleByte { return modelsOf(languages()) }) //nolint:gochecknoglobals // a table.

var westernModels = sync.OnceValue(func() []*singleByte { return modelsOf(westerners()) }) //nolint:gochecknoglobals // a table.

func modelsOf(all []language) []*singleByte {
	var models []*singleByte
	for _, l := range all {
		for _, enc := range l.encs {
			models = append(models, newSingleByte(l, enc))
		}
	}
	return models
}
