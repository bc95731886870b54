package sqlite

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/partnerkit/partnerkit/storage"
)

// pool lends connections that read, each to one reader at a time.
type pool struct {
	open func(ctx context.Context) (*conn, error)
	lent chan struct{} // as many as there may be

	mu     sync.Mutex
	idle   []*conn // the one used last at the end
	closed bool
}

func newPool(size int, open func(ctx context.Context) (*conn, error)) *pool {
	return &pool{open: open, lent: make(chan struct{}, size)}
}

// take waits for a connection.
func (p *pool) take(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.lent <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := p.next(ctx)
	if err != nil {
		<-p.lent
	}
	return c, err
}

func (p *pool) next(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, storage.ErrClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	return p.open(ctx)
}

// give takes a connection back.
func (p *pool) give(c *conn) error {
	defer func() { <-p.lent }()
	p.mu.Lock()
	if keep := !p.closed && c.isValid(); keep {
		p.idle = append(p.idle, c)
		p.mu.Unlock()
		return nil
	}
	p.mu.Unlock()
	return c.close()
}

// close ends connections that are idle at once, and others when they come back.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	errs := make([]error, 0, len(p.idle))
	for _, c := range p.idle {
		errs = append(errs, c.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}

// one reads a row. It is not interrupted: the statements that read one row are short,
// and watching over each of them costs more than the rest of it.
func (p *pool) one(ctx context.Context, query string, args, dest []any) (err error) {
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, p.give(c)) }()
	return c.one(uncancelled(ctx), query, args, dest)
}

// query reads rows, whose connection comes back when they are closed.
func (p *pool) query(ctx context.Context, query string, args []any) (storage.Rows, error) {
	c, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.query(ctx, query, args)
	if err != nil {
		return nil, cmp.Or(err, p.give(c))
	}
	return &lentRows{rows: found, pool: p, conn: c, ctx: ctx}, nil
}

// lentRows hold a connection of a pool until they are closed or read to the end, or
// their context has ended.
type lentRows struct {
	rows
	pool *pool
	conn *conn
	ctx  context.Context //nolint:containedctx // the rows live as long as it
}

func (r *lentRows) Next() bool {
	if r.closed {
		return false
	}
	if r.err = r.ctx.Err(); r.err == nil && r.next() {
		return true
	}
	r.err = cmp.Or(r.err, r.Close())
	return false
}

func (r *lentRows) Scan(dest ...any) error { return r.scan(dest) }

func (r *lentRows) Err() error { return r.err }

func (r *lentRows) Close() error {
	if r.conn == nil {
		return nil
	}
	c := r.conn
	r.conn = nil
	return cmp.Or(r.close(), r.pool.give(c))
}
