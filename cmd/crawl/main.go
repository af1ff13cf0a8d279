// Command crawl runs spiders. A program of the same kind with spiders of its
// own is a copy of this file that imports their packages too.
package main

import "github.com/skeincrawl/skein/cmd"

func main() { cmd.Main() }
