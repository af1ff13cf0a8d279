package charset

import (
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A block is some characters that make up a share of the texts of a language, each
// as often as another.
type block struct {
	from, to rune
	share    float64
	used     float64 // how many of them are in use
}

// A multiByte tells how likely texts of a language are in an encoding.
type multiByte struct {
	enc      encoding.Encoding
	frequent string  // characters that come more often than others of their block
	share    float64 // of them together
	blocks   []block
}

var multiByteModels = sync.OnceValue(func() []*multiByte { //nolint:gochecknoglobals // a table.
	japaneseBlocks := []block{
		{0x3041, 0x3096, 0.45, 80},
		{0x30A1, 0x30FE, 0.15, 80},
		{0x4E00, 0x9FFF, 0.27, 2500},
		{0x3000, 0x303F, 0.08, 20},
		{0xFF01, 0xFF5E, 0.03, 90},
		{0xFF61, 0xFF9F, 0.005, 60},
	}
	chineseBlocks := []block{
		{0x4E00, 0x9FFF, 0.5, 6000},
		{0x3000, 0x303F, 0.04, 20},
		{0xFF01, 0xFF5E, 0.06, 90},
		{0x2010, 0x2030, 0.01, 10},
		{0x3041, 0x30FE, 0.001, 170},
	}
	koreanBlocks := []block{
		{0xAC00, 0xD7A3, 0.55, 2350},
		{0x4E00, 0x9FFF, 0.01, 4888},
		{0x3000, 0x303F, 0.01, 20},
		{0x2010, 0x2030, 0.01, 10},
		{0x3041, 0x30FE, 0.001, 170},
	}
	const (
		simplified  = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
		traditional = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡"
		hangul      = "이다는에의을가고한로하지도사은기를어니리나대서아라인해일자시들부정수있보그것"
	)
	return []*multiByte{
		{japanese.ShiftJIS, "", 0, japaneseBlocks},
		{japanese.EUCJP, "", 0, japaneseBlocks},
		{simplifiedchinese.GB18030, simplified, 0.38, chineseBlocks},
		{traditionalchinese.Big5, traditional, 0.38, chineseBlocks},
		{korean.EUCKR, hangul, 0.42, koreanBlocks},
	}
})

// bits returns the logarithm to base 2 of the likelihood of a text.
func (m *multiByte) bits(text []byte) float64 {
	decoded, err := m.enc.NewDecoder().Bytes(text)
	if err != nil {
		return math.Inf(-1)
	}
	const most = 50 // times as many characters as errors
	sum, good, bad := 0.0, 0, 0
	for _, r := range string(decoded) {
		switch {
		case r == utf8.RuneError:
			if bad++; bad > 2+len(text)/most {
				return math.Inf(-1)
			}
		case r >= utf8.RuneSelf:
			good++
			sum += math.Log2(m.probability(r))
		}
	}
	if (bad-1)*most > good {
		return math.Inf(-1)
	}
	return sum
}

func (m *multiByte) probability(r rune) float64 {
	const rare = 1e-6
	if strings.ContainsRune(m.frequent, r) {
		return m.share / float64(utf8.RuneCountInString(m.frequent))
	}
	for _, b := range m.blocks {
		if b.from <= r && r <= b.to {
			return b.share / b.used
		}
	}
	return rare
}
