package stemma

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Retries are the pauses between tries: the first, and the most. Each may be twice as long as the one before,
// and is drawn between half of that and all of it, so that many clients do not come back together.
type Retries struct{ First, Most time.Duration }

func (r Retries) orDefault() Retries {
	if r.First == 0 {
		r.First = 100 * time.Millisecond
	}
	if r.Most == 0 {
		r.Most = 5 * time.Second
	}
	return r
}

// wait returns nil when it is time for the next try. It returns the refusal when that does not pass, or would
// pass after the context's deadline, and when the context ends. `attempt` counts from 0.
func (r Retries) wait(ctx context.Context, attempt int, refused *Error) error {
	if ctx.Err() != nil || !refused.Passing() {
		return refused
	}
	grown := r.First
	for ; attempt > 0 && grown < r.Most; attempt-- {
		grown *= 2
	}
	if grown > r.Most {
		grown = r.Most
	}
	pause := grown/2 + time.Duration(mathrand.Int63n(int64(grown)/2+1))
	if pause < refused.RetryAfter {
		pause = refused.RetryAfter
	}
	if deadline, limited := ctx.Deadline(); limited && time.Now().Add(pause).After(deadline) {
		return refused
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return refused
	}
}

// NewRequestID is a random UUID.
func NewRequestID() string {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		panic(err) // The system has no randomness: nothing would be safe.
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// WithRequestID is the request; a copy with a new id when it should have one and has none.
func WithRequestID[M proto.Message](request M) M {
	field := request.ProtoReflect().Descriptor().Fields().ByName("request_id")
	if field == nil || request.ProtoReflect().Get(field).String() != "" {
		return request
	}
	made := proto.Clone(request)
	made.ProtoReflect().Set(field, protoreflect.ValueOfString(NewRequestID()))
	return made.(M)
}
