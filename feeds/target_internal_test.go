package feeds

import (
	"path/filepath"
	"testing"
)

func TestFromURIPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, goos, want string }{
		{"/C:/data/out.jl", "windows", "C:/data/out.jl"},
		{"/data/out.jl", "windows", "/data/out.jl"},
		{"/C:/data/out.jl", "linux", "/C:/data/out.jl"},
	} {
		if got := fromURIPath(tc.path, tc.goos); got != filepath.FromSlash(tc.want) {
			t.Errorf("fromURIPath(%q, %s) = %q, want %q", tc.path, tc.goos, got, tc.want)
		}
	}
}
