// Package charset guesses the encoding of a text that does not say it, by how
// often the characters come that it would have in each.
package charset
