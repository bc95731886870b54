package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// Each plan writes one entry of news: which webhooks it queued deliveries for. An entry has
// the next number of its feed, which is taken under the row of the shard, so that entries
// become visible in their order, without gaps. A dispatcher therefore reads each entry once,
// whatever the clocks say and however late a transaction commits, and never steps over
// entries that were deleted.

// newsKept is how many entries of a feed are kept. A dispatcher that is further behind
// looks at all its webhooks.
const newsKept = 256

// newsRead is how many entries of each feed one News reads.
const newsRead = 32

// consoleFeed is the feed of deliveries that people queue.
var consoleFeed = webhookstore.ShardID{Kind: "console"}

// feedOf returns the number of a shard's feed.
func feedOf(shard webhookstore.ShardID) int {
	if shard == consoleFeed {
		return -1
	}
	return shard.Number
}

// entry is what an entry of news has of one webhook: its id, and the first and the last due
// time of its deliveries.
type entry struct {
	webhookID   string
	first, last int64
}

func (e entry) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{e.webhookID, e.first, e.last})
}

func (e *entry) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&e.webhookID, &e.first, &e.last})
}

// tell adds an entry to a feed, and hints at it.
func (t *tx) tell(ctx context.Context, queued []partner.Delivery, feed webhookstore.ShardID) error {
	var entries []*entry
	of := map[string]*entry{}
	for _, d := range queued {
		due := ms(d.NextAttemptAt)
		one := of[d.WebhookID]
		if one == nil {
			one = &entry{d.WebhookID, due, due}
			of[d.WebhookID], entries = one, append(entries, one)
		}
		one.first, one.last = min(one.first, due), max(one.last, due)
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	var number int64
	err = t.one(ctx, "UPDATE partnerkit_shard SET news = news + 1 WHERE kind = $1 AND id = $2 RETURNING news", []any{string(feed.Kind), feed.Number}, &number)
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, "INSERT INTO partnerkit_queue_news (feed, number, webhooks) VALUES ($1, $2, $3)", feedOf(feed), number, string(text)); err != nil {
		return err
	}
	t.hint(storage.Hint{Topic: webhookstore.TopicQueued})
	return t.later(ctx, "DELETE FROM partnerkit_queue_news WHERE feed = $1 AND number = $2", feedOf(feed), number-newsKept)
}

// News implements webhookstore.Store.
func (s *Store) News(ctx context.Context, since webhookstore.NewsPlace) (webhookstore.News, error) {
	news := webhookstore.News{Place: webhookstore.NewsPlace{}}
	if since == nil {
		err := storage.Each(ctx, s, s.sql.of("SELECT kind, id, news FROM partnerkit_shard WHERE kind <> 'send'"), nil, func(scan func(...any) error) error {
			var shard webhookstore.ShardID
			var number int64
			err := scan((*string)(&shard.Kind), &shard.Number, &number)
			news.Place[feedOf(shard)] = number
			return err
		})
		return news, wrap("place of news", err)
	}
	args := make([]any, 0, s.shards+1)
	for feed := -1; feed < s.shards; feed++ {
		args = append(args, since[feed])
		news.Place[feed] = since[feed]
	}
	err := storage.Each(ctx, s, s.sql.many("", "", len(args), newsText), args, func(scan func(...any) error) error {
		var feed int
		var number int64
		var text string
		if err := scan(&feed, &number, &text); err != nil {
			return err
		}
		if number != news.Place[feed]+1 {
			news.IsIncomplete = true
		}
		news.Place[feed] = number
		if number >= since[feed]+newsRead {
			news.HasMore = true
		}
		var entries []entry
		if err := json.Unmarshal([]byte(text), &entries); err != nil {
			s.log.ErrorContext(ctx, "storage: an entry of news cannot be read", "feed", feed, "number", number, "err", err)
			news.IsIncomplete = true
			return nil
		}
		for _, e := range entries {
			news.Webhooks = append(news.Webhooks, webhookstore.DueWebhook{WebhookID: e.webhookID, First: fromMS(e.first), Last: fromMS(e.last)})
		}
		return nil
	})
	return news, wrap("news", err)
}

// newsText selects the next entries of each feed, of which the first one is -1.
func newsText(feeds int) string {
	var text strings.Builder
	for i := range feeds {
		if i > 0 {
			text.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&text, "SELECT feed, number, webhooks FROM (SELECT feed, number, webhooks FROM partnerkit_queue_news WHERE feed = %d AND number > $%d ORDER BY number LIMIT %d) AS f%d",
			i-1, i+1, newsRead, i)
	}
	return text.String() + " ORDER BY feed, number"
}
