// Package webhooks compares the sending of webhooks with a bare loop of signed posts,
// and with a minimal sender on another project's queue.
package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

const (
	group = "Webhooks"
	turns = 7      // many short ones: what else the machine does changes
	n     = 10_000 // deliveries in each
)

// SQLite measures signatures, and deliveries on SQLite.
func SQLite(p bench.Plan, r *report.Report) error {
	if err := signatures(p, r); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(dir, "webhooks.db"), WriteWait: time.Minute})
	if err != nil {
		return err
	}
	defer store.Close()
	to, err := newReceiver()
	if err != nil {
		return err
	}
	defer to.close()
	s, err := newSender(store, to)
	if err != nil {
		return err
	}

	draining, stop := s.draining(n)
	measured, err := p.Compare(turns, bare(to, n), draining)
	stop()
	if err != nil {
		return err
	}
	floor, our := measured[0], measured[1]
	share := 1 / our.Ratio(floor)
	r.Add(rateRow("draining on SQLite", our, floor, share, "at least 62 % of the loop", share < 0.62))

	stop = start(s.svc)
	measured, err = p.Compare(turns, s.bareRows(n), s.endToEnd(n))
	stop()
	if err != nil {
		return err
	}
	floor, our = measured[0], measured[1]
	share = 1 / our.Ratio(floor)
	r.Add(rateRow("event to recorded 2xx on SQLite", our, floor, share, "at least 75 % of the loop that writes the same rows", share < 0.75))
	return nil
}

func rateRow(operation string, our, floor bench.Measured, share float64, bar string, missed bool) report.Row { //nolint:revive // what came of it, not a switch
	return report.Row{
		Group: group, Operation: operation, Ours: perSecond(our), Floor: "bare loop " + perSecond(floor),
		Ratios: fmt.Sprintf("%.0f %% of the loop; CPU %v and %v", 100*share, our.CPU.Round(100*time.Nanosecond), floor.CPU.Round(100*time.Nanosecond)),
		Spread: floor.Spread(our),
		Allocs: fmt.Sprintf("%.0f; loop %.0f", our.Allocs, floor.Allocs), Bar: bar, Missed: missed,
	}
}

func perSecond(m bench.Measured) string { return fmt.Sprintf("%.0f/s", m.PerSecond()) }

// signatures compares a signature with the HMAC in it.
func signatures(p bench.Plan, r *report.Report) error {
	const secret = "whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	signer, err := signature.NewSigner(secret)
	if err != nil {
		return err
	}
	now := time.Now()
	mac := hmac.New(sha256.New, []byte(secret))
	text, sum := append(strconv.AppendInt(nil, now.Unix(), 10), '.'), make([]byte, 0, sha256.Size)
	alone := func() []byte {
		mac.Reset()
		mac.Write(text)
		mac.Write(filler)
		return mac.Sum(sum)
	}
	want := "t=" + strconv.FormatInt(now.Unix(), 10) + ",v1=" + hex.EncodeToString(alone())
	const each = 20_000
	measured, err := p.Compare(turns,
		bench.Side{Name: "HMAC", Each: each, Do: func(n int) error {
			for range n {
				if len(alone()) != sha256.Size {
					return errors.New("no sum")
				}
			}
			return nil
		}},
		bench.Side{Name: "ours", Each: each, Do: func(n int) error {
			for range n {
				if got := signer.Sign(now, filler); got != want {
					return fmt.Errorf("signed %q, want %q", got, want)
				}
			}
			return nil
		}})
	if err != nil {
		return err
	}
	floor, our := measured[0], measured[1]
	r.Add(report.Row{
		Group: group, Operation: "signature of 1 KiB", Ours: our.Wall.String(), Floor: "HMAC " + floor.Wall.String(),
		Ratios: fmt.Sprintf("%.2f of HMAC", our.Ratio(floor)), Spread: our.Spread(floor), Allocs: fmt.Sprintf("%.0f", our.Allocs),
	})
	return nil
}
