package oauthserver_test

import (
	"net/http"
	"testing"

	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

func openPostgres(t testing.TB) storage.DB {
	t.Helper()
	url, schema := testenv.Postgres(t)
	db, err := postgres.OpenDB(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// onBoth runs a benchmark on each database.
func onBoth(b *testing.B, run func(b *testing.B, k *apiHarness)) {
	for name, open := range map[string]storetest.Opener{"sqlite": storetest.SQLite, "postgres": openPostgres} {
		b.Run(name, func(b *testing.B) { run(b, newAPIHarnessOn(b, open, unlimited)) })
	}
}

func (a apiResponse) must200() apiResponse {
	if a.Status != http.StatusOK {
		a.Fatalf("answer %d %s", a.Status, a.Body)
	}
	return a
}

func BenchmarkRefresh(b *testing.B) {
	onBoth(b, func(b *testing.B, k *apiHarness) {
		_, refresh := k.tokens(confidentialID)
		for b.Loop() {
			refresh = k.refresh(confidentialID, refresh).must200().text("refresh_token")
		}
	})
}

func BenchmarkCode(b *testing.B) {
	onBoth(b, func(b *testing.B, k *apiHarness) {
		codes := make([]string, b.N)
		for i := range codes {
			codes[i] = k.code(confidentialID, apiChallenge)
		}
		b.ResetTimer()
		for _, code := range codes {
			k.redeem(confidentialID, code).must200()
		}
	})
}

func BenchmarkIntrospect(b *testing.B) {
	onBoth(b, func(b *testing.B, k *apiHarness) {
		access, _ := k.tokens(confidentialID)
		for b.Loop() {
			k.introspect(access).must200()
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	onBoth(b, func(b *testing.B, k *apiHarness) {
		access, _ := k.tokens(confidentialID)
		b.ReportAllocs()
		for b.Loop() {
			if !k.isLive(access) {
				b.Fatal("dead")
			}
		}
	})
}

// BenchmarkRefreshParallel has a family for each of its goroutines, so that their
// commits can be shared.
func BenchmarkRefreshParallel(b *testing.B) {
	onBoth(b, func(b *testing.B, k *apiHarness) {
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			_, refresh := k.tokens(confidentialID)
			for pb.Next() {
				refresh = k.refresh(confidentialID, refresh).must200().text("refresh_token")
			}
		})
	})
}
