package stemma

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc/codes"

	conversationv1 "stemma.example/client/gen/conversation/v1"
)

const (
	// After which a feed is asked for anew, be it silent or not.
	feedTime = time.Hour
	// How long the service may be away before Watch gives up.
	patience = 5 * time.Minute
)

// Feed iterates over the events of a project, each once and in order, for ever; see Run for its use. An event's
// position is where to go on, now or another day.
type Feed struct {
	client    *Client
	projectID string
	ctx       context.Context
	cancel    context.CancelFunc

	stream  conversationv1.EventService_WatchEventsClient
	hangUp  context.CancelFunc
	event   *conversationv1.Event
	after   int64
	attempt int
	// Since when the service is away; zero while it is there.
	away time.Time
	err  error
}

// Watch follows a project after a position, 0 from the beginning, until the context ends.
func (c *Client) Watch(ctx context.Context, projectID string, after int64) *Feed {
	watching, cancel := context.WithCancel(ctx)
	return &Feed{client: c, projectID: projectID, ctx: watching, cancel: cancel, hangUp: func() {}, after: after}
}

// Next waits for the next event; false when Err says why there is none.
func (f *Feed) Next() bool {
	for f.err == nil {
		err := f.receive()
		if err == nil {
			f.after = f.event.GetPosition()
			return true
		}
		f.hangUp()
		f.stream = nil
		f.err = f.goesOn(err)
	}
	f.Close()
	return false
}

// Event is what Next found.
func (f *Feed) Event() *conversationv1.Event { return f.event }

// Err is why there are no more events.
func (f *Feed) Err() error { return f.err }

// Close hangs up.
func (f *Feed) Close() { f.cancel() }

func (f *Feed) receive() error {
	if f.stream == nil {
		limited, hangUp := context.WithTimeout(f.ctx, feedTime)
		f.hangUp = hangUp
		asked := &conversationv1.WatchEventsRequest{ProjectId: f.projectID, After: f.after}
		stream, err := f.client.Events.WatchEvents(limited, asked)
		if err != nil {
			return err
		}
		f.stream = stream
		// They come as soon as the service is there, also when nothing happens in the project.
		if headers, err := stream.Header(); err == nil && len(headers) > 0 {
			f.attempt, f.away = 0, time.Time{}
		}
	}
	answer, err := f.stream.Recv()
	if err == nil {
		f.attempt, f.away, f.event = 0, time.Time{}, answer.GetEvent()
	}
	return err
}

// goesOn returns nil when it is time to ask again.
func (f *Feed) goesOn(err error) error {
	if err == io.EOF || (f.ctx.Err() == nil && ErrorOf(err).Code == codes.DeadlineExceeded) {
		// A stream's time was up, not the watcher's.
		return f.ctx.Err()
	}
	if f.away.IsZero() {
		f.away = time.Now()
	}
	limited, cancel := context.WithDeadline(f.ctx, f.away.Add(patience))
	defer cancel()
	refused := f.client.options.Retries.wait(limited, f.attempt, ErrorOf(err))
	f.attempt++
	return refused
}
