package sqlfile

// quote reads up to the closing quote, which two quotes are not. The inside of a name goes to the plain text, in
// upper case.
func (s *scan) quote(q byte, escapes, name bool) error {
	for {
		if !name {
			s.run(q)
		}
		c, err := s.next()
		if err != nil {
			return err
		}
		s.put(c)
		switch {
		case escapes && c == '\\':
			s.keep(1)
		case c == q && s.ahead(string(q)):
			s.keep(1)
		case c == q:
			return nil
		case name:
			s.plainly(string(upper(c)))
		}
	}
}

// run copies the bytes of a string up to one that may mean something, as far as they are in the buffer.
func (s *scan) run(q byte) {
	b, _ := s.in.Peek(s.in.Buffered()) // no error: they are there
	n := 0
	for n < len(b) && b[n] != q && b[n] != '\\' && b[n] != '\n' && b[n] != 0 {
		n++
	}
	if s.keeps() {
		s.text.Write(b[:n])
	}
	s.count(n)
	_, _ = s.in.Discard(n)
}

// dollar reads a quote of PostgreSQL: $tag$ ... $tag$. Other dollars are parts of words or parameters.
func (s *scan) dollar() error {
	tag := "$"
	for {
		b, err := s.in.Peek(len(tag))
		if err != nil {
			return nil
		}
		c := b[len(tag)-1]
		if tag += string(c); c == '$' {
			break
		}
		if !wordByte(c) || len(tag) > 64 {
			return nil
		}
	}
	if len(s.word) > 0 { // a dollar inside of a word
		return nil
	}
	s.keep(len(tag) - 1)
	s.mark("''")
	for !s.ahead(tag) {
		c, err := s.next()
		if err != nil {
			return err
		}
		s.put(c)
	}
	s.keep(len(tag))
	return nil
}

// blockComment reads to the end of a comment. Those of PostgreSQL nest.
func (s *scan) blockComment(keep bool) error {
	for depth := 1; depth > 0; {
		c, err := s.next()
		if err != nil {
			return err
		}
		if keep {
			s.put(c)
		}
		switch {
		case c == '*' && s.ahead("/"):
			depth--
		case c == '/' && s.ahead("*") && s.dialect == Postgres:
			depth++
		default:
			continue
		}
		if c, err = s.next(); err == nil && keep {
			s.put(c)
		}
	}
	s.mark(" ")
	return nil
}
