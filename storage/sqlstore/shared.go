package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
)

// Where several can write at once, mints that come in numbers share transactions.
// Measured on PostgreSQL: with 64 clients a refresh costs 0.6 of one that has its own;
// with 8 clients it costs as much, and takes longer.
const (
	fewMints       = 8 // of a kind have one each
	sharedMintRuns = 2 // are shared at a time
)

// sharing is a kind of mint that shares transactions.
type sharing struct {
	*gather[*sharedMint]
	lock, use    func(n int) string // statements for so many
	startsFamily bool
}

// sharedMint is a mint that may share its transaction. It belongs to whoever runs it, even
// when its caller has gone.
type sharedMint struct {
	used   string // the id of what is used up: a code or a family
	row    []any  // of the statement that uses it up
	judge  func(state locked) oauthserver.Minted
	line   lineage
	family string
	before int64  // the generation that is used up
	answer []byte // kept for a retry, unless nil
	mint   oauthserver.Mint

	isSettled bool
	minted    oauthserver.Minted
}

// shareMints has rotations and redemptions share transactions.
func (s *Store) shareMints(cfg Config) {
	d := s.db.Dialect()
	if d.SkipLocked == "" {
		return
	}
	// What is used up is locked with all that it hangs on, and without waiting: rows that
	// others hold are left out. So there is no order to keep, and no mint waits for what
	// its neighbour needs.
	lock := func(generation, table, isUnused string) func(n int) string {
		before := "SELECT x.id, " + generation + ", " + lockedColumns + "x.user_id)" + grantColumn + " FROM " + table + ` x
			JOIN partnerkit_installation i ON i.id = x.installation_id JOIN partnerkit_app a ON a.id = i.app_id
			JOIN partnerkit_grant g ON g.id = x.grant_id
			WHERE x.` + isUnused + " AND x.id IN ("
		after := ")" + d.ShareOf("a, i, g") + d.SkipLocked + d.UpdateOf("x") + d.SkipLocked
		return func(n int) string {
			return s.sql.many(before, after, n, func(n int) string { return places(0, n) })
		}
	}
	use := func(before, after string, types ...string) func(n int) string {
		return func(n int) string {
			return s.sql.many(before+" FROM (", ") AS v WHERE id = v.column1 AND "+after, n, table(types...))
		}
	}
	s.rotations = &sharing{
		lock: lock("x.generation", "partnerkit_family", "ended_at IS NULL"),
		use: use("UPDATE partnerkit_family SET generation = generation + 1, answer = NULL",
			"generation = v.column2 AND ended_at IS NULL", "TEXT", "BIGINT"),
	}
	s.redemptions = &sharing{ // codes are of generation 0, and what they give of the first
		lock: lock("0", "partnerkit_code", "used_at IS NULL"),
		use: use("UPDATE partnerkit_code SET used_at = v.column2, family_id = v.column3",
			"used_at IS NULL", "TEXT", "BIGINT", "TEXT"),
		startsFamily: true,
	}
	for _, kind := range []*sharing{s.rotations, s.redemptions} {
		kind.gather = &gather[*sharedMint]{few: max(0, cmp.Or(cfg.FewMints, fewMints)), runs: sharedMintRuns,
			run: func(ctx context.Context, mints []*sharedMint) error { return s.mintTogether(ctx, kind, mints) }}
	}
}

// canShare reports whether mints may share transactions: those that joined one have it.
func (s *Store) canShare(ctx context.Context) bool {
	return s.rotations != nil && s.transaction(ctx) == nil
}

// share runs a mint together with others of its kind, or alone.
func (s *Store) share(ctx context.Context, kind *sharing, mint *sharedMint, alone func() (oauthserver.Minted, error)) (oauthserver.Minted, error) {
	together := kind.enter(ctx, mint)
	defer kind.leave()
	if together != nil {
		if err := kind.wait(together); err != nil {
			return oauthserver.Minted{}, wrap("mint together", err)
		}
		if mint.isSettled {
			return mint.minted, nil
		}
	}
	return alone()
}

// mintTogether settles, in one transaction, the mints in whose way nothing is. The others
// are for themselves: those that another transaction makes wait, those of something that
// was used or has ended, and all of them when a statement fails. After an error of its own
// nobody knows whether it committed.
func (s *Store) mintTogether(ctx context.Context, kind *sharing, mints []*sharedMint) error {
	var won []*sharedMint
	isReady := false
	err := s.write(ctx, func(ctx context.Context, tx *tx) (err error) {
		isReady = false // it may run again
		if won, err = tx.lockMints(ctx, kind, mints); err != nil {
			return err
		}
		if len(won) == 0 {
			return errStop
		}
		err = tx.mintAll(ctx, kind, won)
		isReady = err == nil
		return err
	})
	switch {
	case err == nil:
		for _, m := range won {
			m.isSettled = true
		}
	case isReady && !errors.Is(err, storage.ErrUndone):
		return err
	case !errors.Is(err, errStop) && !errors.Is(err, storage.ErrClosed) && ctx.Err() == nil:
		s.log.WarnContext(ctx, "mints that were to share a transaction run each by itself", "mints", len(mints), "err", err)
	}
	return nil
}

// lockMints locks what the mints use up and returns those that nothing forbids.
func (t *tx) lockMints(ctx context.Context, kind *sharing, mints []*sharedMint) (won []*sharedMint, err error) {
	of, ids := make(map[string]*sharedMint, len(mints)), make([]string, 0, len(mints))
	for _, m := range mints {
		if of[m.used] == nil { // a second one for the same comes too late
			of[m.used] = m
			ids = append(ids, m.used)
		}
	}
	set := anys(padded(ids))
	err = storage.Each(ctx, t.on, kind.lock(len(set)), set, func(scan func(dest ...any) error) error {
		var row struct {
			lockedRow
			id         string
			generation int64
		}
		if err := scan(append([]any{&row.id, &row.generation}, append(row.dest(), &row.grantEnded)...)...); err != nil {
			return err
		}
		m := of[row.id]
		state, unreadable := row.decode() // the act by itself says so
		m.minted = m.judge(state)
		if unreadable == nil && m.before == row.generation && m.minted.Outcome == oauthserver.Issued {
			won = append(won, m)
		}
		return nil
	})
	return won, err
}

// mintAll uses up what is locked and makes the tokens.
func (t *tx) mintAll(ctx context.Context, kind *sharing, mints []*sharedMint) error {
	n := len(mints)
	used, families, access, refresh := make([][]any, n), make([][]any, n), make([][]any, n), make([][]any, n)
	for i, m := range mints {
		of, scopes, generation := m.line.owners(), scopeList(m.minted.Scopes), m.before+1
		used[i], families[i] = m.row, familyRow(of, m.family, scopes)
		access[i], refresh[i] = accessRow(of, m.family, generation, scopes, m.mint), refreshRow(m.family, generation, m.mint)
	}
	err := chunks(used, func(part [][]any) error {
		n, err := t.on.Exec(ctx, kind.use(len(part)), flat(part)...)
		if err == nil && n != int64(len(part)) {
			err = fmt.Errorf("%d of %d were used up by others, under our locks", len(part)-int(n), len(part))
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range mints {
		if m.answer != nil {
			if err := t.keepAnswer(ctx, m.family, m.answer, m.minted.Scopes, m.mint.Now); err != nil {
				return err
			}
		}
	}
	if kind.startsFamily {
		if err := t.insertManyLater(ctx, insertFamily, families); err != nil {
			return err
		}
	}
	if err := t.insertManyLater(ctx, insertAccess, access); err != nil {
		return err
	}
	return t.insertManyLater(ctx, insertRefresh, refresh)
}
