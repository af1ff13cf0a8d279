package crawl_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/skeincrawl/skein/crawl"
)

// note is what the callbacks of the spider below emit, so that a test sees which
// method of which instance ran, and with what.
func note(out crawl.Out, format string, args ...any) error {
	out.Item(fmt.Sprintf(format, args...))
	return nil
}

// shop is a spider with every kind of callback that has a name.
type shop struct {
	plain
	*byPointer
	paged[int]
	id int
}

func newShop(id int) *shop {
	return &shop{id: id, plain: plain{id}, byPointer: &byPointer{plainDeep{id}}, paged: paged[int]{id}}
}

func (s *shop) Parse(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "Parse %d", s.id)
}

// Leaf has a body that the compiler inlines into its method value.
func (s *shop) Leaf(context.Context, *crawl.Response, crawl.Out) error { return nil }

func (s shop) ByValue(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "ByValue %d", s.id)
}

func (s *shop) Fail(_ context.Context, _ *crawl.Failure, out crawl.Out) error {
	return note(out, "Fail %d", s.id)
}

func (s *shop) ParseBook(_ context.Context, _ *crawl.Response, out crawl.Out, b book) error {
	return note(out, "ParseBook %d %v", s.id, b)
}

func (s *shop) ParseBookP(_ context.Context, _ *crawl.Response, out crawl.Out, b *book) error {
	return note(out, "ParseBookP %d %v", s.id, b)
}

func (s *shop) ParseWord(_ context.Context, _ *crawl.Response, out crawl.Out, w string) error {
	return note(out, "ParseWord %d %q", s.id, w)
}

func (s *shop) ParseMap(_ context.Context, _ *crawl.Response, out crawl.Out, m map[string]int) error {
	return note(out, "ParseMap %d %v", s.id, m)
}

func (s *shop) ParsePair(_ context.Context, _ *crawl.Response, out crawl.Out, p pair[string, int]) error {
	return note(out, "ParsePair %d %v", s.id, p)
}

func (s *shop) ParseAny(_ context.Context, _ *crawl.Response, out crawl.Out, v any) error {
	return note(out, "ParseAny %d %v", s.id, v)
}

// Total is no callback, and neither is ParseMany.
func (s *shop) Total() int { return s.id }

func (s *shop) ParseMany(context.Context, *crawl.Response, crawl.Out, ...int) error { return nil }

// Overridden has the name of a method of an embedded type.
func (s *shop) Overridden(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "shop.Overridden %d", s.id)
}

func (s *shop) unexported(context.Context, *crawl.Response, crawl.Out) error { return nil }

func (s *shop) FailWith(_ context.Context, _ *crawl.Response, _ crawl.Out, reason string) error {
	return errors.New(reason)
}

type book struct {
	Shelf int    `json:"shelf"`
	Title string `json:"title,omitempty"`
}

type pair[A, B any] struct {
	First  A
	Second B
}

// plain is embedded by value.
type plain struct{ id int }

func (p *plain) Promoted(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "Promoted %d", p.id)
}

func (p plain) PromotedValue(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "PromotedValue %d", p.id)
}

func (p *plain) Overridden(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "plain.Overridden %d", p.id)
}

// byPointer is embedded as a pointer, and overrides what it embeds itself.
type byPointer struct{ plainDeep }

func (p *byPointer) Middle(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "byPointer.Middle %d", p.id)
}

type plainDeep struct{ id int }

func (p *plainDeep) Middle(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "plainDeep.Middle %d", p.id)
}

func (p *plainDeep) Deep(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "Deep %d", p.id)
}

// paged is a generic type.
type paged[T any] struct{ page T }

func (p *paged[T]) NextPage(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "NextPage %v", p.page)
}

func (p paged[T]) PageValue(_ context.Context, _ *crawl.Response, out crawl.Out) error {
	return note(out, "PageValue %v", p.page)
}

func (p *paged[T]) PageArgs(_ context.Context, _ *crawl.Response, out crawl.Out, a T) error {
	return note(out, "PageArgs %v %v", p.page, a)
}

// inside takes a method value where the type of the receiver is generic.
//
//go:noinline
func (p *paged[T]) inside() crawl.Callback { return p.NextPage }

// stranger has a method of the same name as the spider's.
type stranger struct{}

func (stranger) Parse(context.Context, *crawl.Response, crawl.Out) error { return nil }

func parseFunc(context.Context, *crawl.Response, crawl.Out) error { return nil }

// decorated embeds its spider through an interface.
type decorated struct{ crawl.Spider }

// recursive embeds a pointer to its own type.
type recursive struct{ *recursive }

func (r *recursive) Parse(context.Context, *crawl.Response, crawl.Out) error { return nil }
