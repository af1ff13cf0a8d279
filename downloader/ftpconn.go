package downloader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"regexp"
	"strconv"
	"time"
)

// The replies of an ftp server that are more than yes or no (RFC 959 §4.2).
const (
	ftpReady        = 220
	ftpNeedPassword = 331
	ftpNotLoggedIn  = 530
	ftpNoFile       = 550

	ftpTalk = 64 << 10 // bytes that a server may say beside the file
)

// ftpConn is a conversation with an ftp server about one file.
type ftpConn struct {
	dial    dialFunc
	control net.Conn
	text    *textproto.Conn
	data    net.Conn // nil before the file is open
	stops   []func() bool
}

// dialFTP connects to a server.
func dialFTP(ctx context.Context, dial dialFunc, addr string) (*ftpConn, error) {
	control, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &ftpConn{dial: dial, control: control}
	c.text = textproto.NewConn(limited{Conn: control, r: io.LimitReader(control, ftpTalk)})
	c.watch(ctx, control)
	return c, nil
}

// limited is a connection of which only so much is read.
type limited struct {
	net.Conn
	r io.Reader
}

// Read reads from the connection.
func (l limited) Read(p []byte) (int, error) { return l.r.Read(p) }

// watch lets what waits for a connection, or for one to come in, end with ctx.
func (c *ftpConn) watch(ctx context.Context, conn interface{ SetDeadline(t time.Time) error }) {
	c.stops = append(c.stops, context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }))
}

// close hangs up.
func (c *ftpConn) close() {
	for _, stop := range c.stops {
		stop()
	}
	if c.data != nil {
		_ = c.data.Close() // it was only read
	}
	_ = c.text.Close() // what was wanted of it is here
}

// open logs in and asks for the file. A [textproto.Error] is what the server
// refuses.
func (c *ftpConn) open(ctx context.Context, file ftpFile, sent *sending) error {
	if _, _, err := c.text.ReadResponse(ftpReady); err != nil {
		return err
	}
	if err := c.login(file.user, file.pass); err != nil {
		return err
	}
	if _, _, err := c.command(2, "TYPE I"); err != nil {
		return err
	}
	if file.active {
		return c.retrieveActive(ctx, file.path, sent)
	}
	return c.retrievePassive(ctx, file.path, sent)
}

// retrievePassive asks for a file over a data connection that is opened from here.
func (c *ftpConn) retrievePassive(ctx context.Context, path string, sent *sending) error {
	addr, err := c.passive()
	if err != nil {
		return err
	}
	if c.data, err = c.dial(ctx, "tcp", addr); err != nil {
		return fmt.Errorf("open the data connection: %w", err)
	}
	c.watch(ctx, c.data)
	sent.wrote()
	_, _, err = c.command(1, "RETR %s", path)
	return err
}

// command sends one line and reads the reply, whose code has to begin with want; 0
// takes every code.
func (c *ftpConn) command(want int, format string, args ...any) (int, string, error) {
	if err := c.text.PrintfLine(format, args...); err != nil {
		return 0, "", err
	}
	return c.text.ReadResponse(want)
}

func (c *ftpConn) login(user, pass string) error {
	code, message, err := c.command(0, "USER %s", user)
	switch {
	case err != nil:
		return err
	case code/100 == 2:
		return nil
	case code != ftpNeedPassword:
		return &textproto.Error{Code: code, Msg: message}
	}
	_, _, err = c.command(2, "PASS %s", pass)
	return err
}

var (
	extendedPort = regexp.MustCompile(`\(\|\|\|(\d+)\|\)`)
	plainPort    = regexp.MustCompile(`\d+,\d+,\d+,\d+,(\d{1,3}),(\d{1,3})(\D|$)`)
)

// passive asks where the data will be. Of the answer only the port counts: an
// address would let a server send the crawl to others.
func (c *ftpConn) passive() (string, error) {
	_, text, err := c.command(2, "EPSV")
	if err == nil {
		if m := extendedPort.FindStringSubmatch(text); m != nil {
			return c.dataAddr(m[1])
		}
		return "", fmt.Errorf("the server does not say where the data will be: %q", text)
	}
	if refusal := (*textproto.Error)(nil); !errors.As(err, &refusal) {
		return "", err
	}
	if _, text, err = c.command(2, "PASV"); err != nil {
		return "", err
	}
	m := plainPort.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("the server does not say where the data will be: %q", text)
	}
	high, _ := strconv.Atoi(m[1])
	low, _ := strconv.Atoi(m[2]) // three digits are numbers
	return c.dataAddr(strconv.Itoa(high<<8 + low))
}

func (c *ftpConn) dataAddr(port string) (string, error) {
	host, _, err := net.SplitHostPort(c.control.RemoteAddr().String())
	return net.JoinHostPort(host, port), err
}

// end reads whether the file was sent to its end.
func (c *ftpConn) end() error {
	_ = c.data.Close() // it was only read
	_, _, err := c.text.ReadResponse(2)
	var refusal *textproto.Error
	if errors.As(err, &refusal) || errors.Is(err, io.EOF) {
		return dataLoss(fmt.Errorf("the server did not send the whole file: %w", err))
	}
	if err == nil {
		_ = c.text.PrintfLine("QUIT") // out of politeness
	}
	return err
}
