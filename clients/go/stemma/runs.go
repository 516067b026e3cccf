package stemma

import (
	"context"
	"fmt"
	"io"
	"time"

	conversationv1 "stemma.example/client/gen/conversation/v1"
	draftv1 "stemma.example/client/gen/draft/v1"
	kernelv1 "stemma.example/client/gen/kernel/v1"
)

// What a run may take when its context has no deadline.
const runTime = time.Hour

// Run iterates over the frames of a run, to the last one or to where the run waits:
//
//	run := client.Respond(ctx, request)
//	defer run.Close()
//	for run.Next() {
//		fmt.Print(run.Event().GetTextDelta().GetText())
//	}
//	return run.Err()
//
// After a cut it goes on where it was: no frame is lost or comes twice. For one goroutine.
type Run struct {
	ctx     context.Context
	cancel  context.CancelFunc
	retries Retries
	open    func(ctx context.Context, runID, after string) (func() (*kernelv1.RunEvent, error), error)

	receive func() (*kernelv1.RunEvent, error)
	event   *kernelv1.RunEvent
	runID   string
	after   string
	attempt int
	ended   bool
	err     error
}

// Respond begins a run in a session.
func (c *Client) Respond(ctx context.Context, request *conversationv1.RespondRequest) *Run {
	begin := WithRequestID(request)
	return c.run(ctx, "", "", func(ctx context.Context, runID, after string) (func() (*kernelv1.RunEvent, error), error) {
		if runID != "" {
			return c.attach(ctx, runID, after)
		}
		stream, err := c.Runs.Respond(ctx, begin)
		return receiver[*conversationv1.RespondResponse](stream, err)
	})
}

// RespondInDraft begins a run in a draft.
func (c *Client) RespondInDraft(ctx context.Context, request *draftv1.RespondRequest) *Run {
	begin := WithRequestID(request)
	return c.run(ctx, "", "", func(ctx context.Context, runID, after string) (func() (*kernelv1.RunEvent, error), error) {
		if runID != "" {
			asked := &draftv1.AttachRunRequest{DraftId: begin.GetDraftId(), RunId: runID, After: after}
			stream, err := c.Drafts.AttachRun(ctx, asked)
			return receiver[*draftv1.AttachRunResponse](stream, err)
		}
		stream, err := c.Drafts.Respond(ctx, begin)
		return receiver[*draftv1.RespondResponse](stream, err)
	})
}

// Attach follows a run of a session after a position, <epoch>.<seq>; empty: from its beginning.
func (c *Client) Attach(ctx context.Context, runID, after string) *Run {
	return c.run(ctx, runID, after, c.attach)
}

// Next waits for the next frame; false after the last one, and when Err says why there is none.
func (r *Run) Next() bool {
	for !r.ended {
		var err error
		if r.receive == nil {
			r.receive, err = r.open(r.ctx, r.runID, r.after)
		}
		if err == nil {
			r.event, err = r.receive()
		}
		if err == nil {
			r.take()
			return true
		}
		r.receive = nil
		if err == io.EOF {
			break
		}
		if r.err = r.retries.wait(r.ctx, r.attempt, ErrorOf(err)); r.err != nil {
			break
		}
		r.attempt++
	}
	r.Close()
	return false
}

// Event is the frame that Next found.
func (r *Run) Event() *kernelv1.RunEvent { return r.event }

// Err is why there are no more frames; nil when the run ended or waits.
func (r *Run) Err() error { return r.err }

// ID is the run's; empty before the first frame.
func (r *Run) ID() string { return r.runID }

// Position is that of the last frame, to attach after.
func (r *Run) Position() string { return r.after }

// Close hangs up. The run goes on: it is the server's.
func (r *Run) Close() {
	r.ended = true
	r.cancel()
}

func (r *Run) take() {
	r.runID, r.attempt = r.event.GetRunId(), 0
	r.after = fmt.Sprintf("%d.%d", r.event.GetEpoch(), r.event.GetSeq())
	switch r.event.GetEvent().(type) {
	case *kernelv1.RunEvent_FloorCommitted, *kernelv1.RunEvent_Held, *kernelv1.RunEvent_Failed, *kernelv1.RunEvent_Cancelled:
		r.ended = true
	}
}

func (c *Client) run(ctx context.Context, runID, after string,
	open func(context.Context, string, string) (func() (*kernelv1.RunEvent, error), error)) *Run {
	run := &Run{retries: c.options.Retries, open: open, runID: runID, after: after}
	if _, limited := ctx.Deadline(); limited {
		run.ctx, run.cancel = context.WithCancel(ctx)
	} else {
		run.ctx, run.cancel = context.WithTimeout(ctx, runTime)
	}
	return run
}

func (c *Client) attach(ctx context.Context, runID, after string) (func() (*kernelv1.RunEvent, error), error) {
	stream, err := c.Runs.AttachRun(ctx, &conversationv1.AttachRunRequest{RunId: runID, After: after})
	return receiver[*conversationv1.AttachRunResponse](stream, err)
}

// receiver makes the four kinds of stream alike.
func receiver[A interface{ GetEvent() *kernelv1.RunEvent }](
	stream interface{ Recv() (A, error) }, err error) (func() (*kernelv1.RunEvent, error), error) {
	if err != nil {
		return nil, err
	}
	return func() (*kernelv1.RunEvent, error) {
		answer, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		return answer.GetEvent(), nil
	}, nil
}
