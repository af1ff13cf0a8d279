package settings

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/viper"
)

// fileTypes are the formats of a config file, in the order in which a
// directory is searched for one.
func fileTypes() []string { return []string{"yaml", "yml", "toml", "json"} }

// FindFile looks for the config file of a directory: crawl.yaml, crawl.yml,
// crawl.toml or crawl.json, the first that exists. It does not look in parent
// directories, nor in the home directory: what a crawl does must not depend on
// a file that nobody sees.
func FindFile(dir string) (string, bool) {
	for _, ext := range fileTypes() {
		name := filepath.Join(dir, "crawl."+ext)
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return name, true
		}
	}
	return "", false
}

// File adds a config file. Its format follows from the end of its name: .yaml,
// .yml, .toml or .json. Each key of the file is a setting; nested keys keep
// their case and their dots. A file that cannot be read or decoded is reported
// by [Builder.Build].
func (b *Builder) File(name string) *Builder {
	src := Source{FromFile, name}
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	if !slices.Contains(fileTypes(), ext) {
		return b.fail(&Error{Source: src, Want: "a config file whose name ends in .yaml, .yml, .toml or .json"})
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return b.fail(&Error{Source: src, Err: fmt.Errorf("read the config file: %w", err)})
	}
	values, err := decode(ext, data)
	if err != nil {
		return b.fail(&Error{Source: src, Err: fmt.Errorf("decode the config file: %w", err)})
	}
	return b.addMap(src, values)
}

// decode uses only the codecs of viper. Its reader folds nested keys to lower
// case and splits them at dots, which breaks header and file names, and its
// getters turn what they cannot read into zero.
func decode(ext string, data []byte) (map[string]any, error) {
	dec, err := viper.NewCodecRegistry().Decoder(ext)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	err = dec.Decode(bytes.TrimPrefix(data, []byte("\ufeff")), values) // editors on Windows write a mark
	return values, err
}
