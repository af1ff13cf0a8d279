package charset

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// texts are proverbs and the like, in the encodings that they are found in.
var texts = []struct {
	name, text string
	encs       []encoding.Encoding
}{
	{"Russian", "Все счастливые семьи похожи друг на друга", []encoding.Encoding{
		charmap.Windows1251, charmap.KOI8R, charmap.ISO8859_5, charmap.CodePage866, charmap.MacintoshCyrillic, charmap.CodePage855,
	}},
	{"Ukrainian", "Без труда нема плода, а з миру по нитці — голому сорочка", []encoding.Encoding{charmap.Windows1251}},
	{"Greek", "Εν αρχή ην ο λόγος και ο λόγος ην προς τον Θεόν", []encoding.Encoding{charmap.Windows1253, charmap.ISO8859_7}},
	{"Hebrew", "בראשית ברא אלהים את השמים ואת הארץ", []encoding.Encoding{charmap.Windows1255}},
	{"Arabic", "الصبر مفتاح الفرج والعلم نور", []encoding.Encoding{charmap.Windows1256, charmap.ISO8859_6}},
	{"Thai", "น้ำขึ้นให้รีบตัก อย่าจับปลาสองมือ", []encoding.Encoding{charmap.Windows874}},
	{"Polish", "Gdzie kucharek sześć, tam nie ma co jeść. Zażółć gęślą jaźń, żeby było", []encoding.Encoding{charmap.Windows1250, charmap.ISO8859_2}},
	{"Czech", "Bez práce nejsou koláče. Příliš žluťoučký kůň úpěl ďábelské ódy", []encoding.Encoding{charmap.Windows1250, charmap.ISO8859_2}},
	{"Hungarian", "Ki korán kel, aranyat lel. Árvíztűrő tükörfúrógép, őt is őrzők őrzik", []encoding.Encoding{charmap.Windows1250}},
	{"Turkish", "Damlaya damlaya göl olur, ağaç yaşken eğilir, sakla samanı gelir zamanı", []encoding.Encoding{charmap.Windows1254}},
	{"Lithuanian", "Kas moka, tas šoka. Įlinkdama fechtuotojo špaga sublykčiojusi pragręžė apvalų arbūzą", []encoding.Encoding{charmap.Windows1257}},
	{"Japanese", "これは日本語の文章です。カタカナも使います", []encoding.Encoding{japanese.ShiftJIS, japanese.EUCJP, japanese.ISO2022JP}},
	{"Chinese", "中国是一个有很多人的国家，我们都在这里生活", []encoding.Encoding{simplifiedchinese.GB18030}},
	{"Chinese, traditional", "這是一個有很多人的國家，我們都在這裡生活", []encoding.Encoding{traditionalchinese.Big5}},
	{"Korean", "가는 말이 고와야 오는 말이 곱다", []encoding.Encoding{korean.EUCKR}},
}

func TestGuess(t *testing.T) {
	t.Parallel()
	for _, tt := range texts {
		for _, enc := range tt.encs {
			body, err := enc.NewEncoder().String("<p class=a>" + tt.text + "</p>")
			if err != nil {
				t.Fatalf("%s in %v: %v", tt.name, enc, err)
			}
			got := Guess([]byte(body))
			if got == nil {
				t.Errorf("%s in %v: no guess", tt.name, enc)
				continue
			}
			if text, err := got.NewDecoder().String(body); err != nil || !strings.Contains(text, tt.text) {
				t.Errorf("%s in %v: taken for %v: %q, %v", tt.name, enc, got, text, err)
			}
		}
	}
}

// Letters without any space in front of a text take no place of it in what is
// looked at.
func TestGuessAfterLetters(t *testing.T) {
	t.Parallel()
	text := strings.ToLower(texts[0].text) // as the rest of a word
	russian, err := charmap.Windows1251.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{before - 1, before, sampled, 1 << 20} {
		body := strings.Repeat("a", n) + russian
		got := Guess([]byte(body))
		if got == nil {
			t.Errorf("after %d letters: no guess", n)
			continue
		}
		if s, err := got.NewDecoder().String(body); err != nil || !strings.HasSuffix(s, text) {
			t.Errorf("after %d letters: taken for %v, %v", n, got, err)
		}
		if got := len(highBytes([]byte(body))); got > 2*sampled {
			t.Errorf("after %d letters: %d bytes are looked at", n, got)
		}
	}
}

// Most of what says nothing is windows-1252, and has to stay so.
func TestGuessWestern(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Où est-ce que l'élève a été? Voilà, ça ne fait rien, à bientôt! Même l'âne",
		"Übung macht den Meister, Müßiggang ist aller Laster Anfang, früh übt sich",
		"¿Dónde está el niño? Mañana será otro día, señor. ¡Años después!",
		"A ação não espera: o coração são três irmãos, às vezes avó e avô",
		"Perché no? È già così, ma però più virtù, città e libertà",
		"Gå på gatan, räkna åren: sjösjuka sjömän sköttes av sköna sjuksköterskor på skeppet",
		"Rødgrød med fløde på, æbler og øl, så går det nok",
		"Þetta er íslenska, það er ég og þú, sú góða kona á Íslandi",
		"“Don’t,” she said — “it’s ‘done’…” and that’s that: we’re off, they’ve gone",
		"½ cup, 1½ cups, ¼ tsp, ¾ l, 20 m², 5 m³, 3×4, 180°, ±2, 5 µm, £3, © 2020",
		"½ ½ ½ ½ ½ ½ ½ ½ ½ ½",
		"m² m² m² m² m² m² m² m² m²",
		"ääkköset: äiti, isä, mäki, pöytä, yö, hyvää päivää, kiitos, näkemiin",
	} {
		body, err := charmap.Windows1252.NewEncoder().Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := Guess(body); got != nil {
			s, _ := got.NewDecoder().Bytes(body)
			t.Errorf("%q is taken for %v: %q", text, got, s)
		}
	}
}

func TestGuessUnicode(t *testing.T) {
	t.Parallel()
	page := "<html><title>plain</title>é"
	for _, enc := range []encoding.Encoding{
		unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
	} {
		body, err := enc.NewEncoder().Bytes([]byte(page))
		if err != nil {
			t.Fatal(err)
		}
		if got := Guess(body); got != enc {
			t.Errorf("%v is taken for %v", enc, got)
		}
	}
	for name, body := range map[string]string{
		"nothing": "", "ASCII": page[:20], "UTF-8": strings.Repeat("é", 20), "a short text": "caf\xe9", "zero bytes": "a\x00b\x00\x00\x00c",
		"an escape": "\x1b[1mbold\x1b[0m",
	} {
		if got := Guess([]byte(body)); got != nil {
			t.Errorf("%s is taken for %v", name, got)
		}
	}
	broken := strings.Repeat("é ü ", 40) + "\xe9 " + strings.Repeat("ö", 9)
	if got := Guess([]byte(broken)); got != unicode.UTF8 {
		t.Errorf("UTF-8 with a wrong byte is taken for %v", got)
	}
}

func FuzzGuess(f *testing.F) {
	f.Add([]byte("\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0"))
	f.Add([]byte("\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if enc := Guess(body); enc != nil {
			if _, err := enc.NewDecoder().Bytes(body); err != nil {
				t.Errorf("%v: %v", enc, err)
			}
		}
	})
}

func BenchmarkGuess(b *testing.B) {
	page := strings.Repeat("<p class=a>"+texts[0].text+"</p>\n", 2000)
	coded, err := charmap.KOI8R.NewEncoder().Bytes([]byte(page))
	if err != nil {
		b.Fatal(err)
	}
	for name, body := range map[string][]byte{"koi8-r": coded, "utf-8": []byte(page)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Guess(body)
			}
		})
	}
}
