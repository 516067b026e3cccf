package stemma

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Reason is why a service refused, of google.rpc.ErrorInfo: errors.Is(err, stemma.HeadMoved).
type Reason string

// The reasons that callers act on; the contract has more.
const (
	// Somebody else committed first; Metadata has current_head.
	HeadMoved = Reason("HEAD_MOVED")
	// Somebody else wrote this layer first; Metadata has current_version.
	VersionMoved = Reason("VERSION_MOVED")
	// The branch has a turn that is not committed; Metadata has pending_floor_id.
	FloorPending = Reason("FLOOR_PENDING")
	// A model is writing that turn; Metadata has run_id.
	RunActive = Reason("RUN_ACTIVE")
	// There is no such thing, or not for this caller.
	NotFound = Reason("NOT_FOUND")
	// No valid credential.
	Unauthenticated = Reason("UNAUTHENTICATED")
	// The caller may know of it, and may not do this.
	Forbidden = Reason("FORBIDDEN")
	// The request_id was used with other content.
	RequestIDReused = Reason("REQUEST_ID_REUSED")
	// Restore it first.
	Archived = Reason("ARCHIVED")
	// The draft has ended; Metadata has state.
	DraftNotActive = Reason("DRAFT_NOT_ACTIVE")
	// The target moved since the entry was written.
	Stale = Reason("STALE")
	// The entry was decided; Metadata has state.
	AlreadyDecided = Reason("ALREADY_DECIDED")
	// The feed begins later; Metadata has earliest.
	CursorTooOld = Reason("CURSOR_TOO_OLD")
)

func (r Reason) Error() string { return string(r) }

// Violation is a field that is wrong, of an INVALID_ARGUMENT.
type Violation struct{ Field, Description string }

// Error is what a service refused, or that it could not be reached.
type Error struct {
	Code codes.Code
	// Empty when no Stemma service answered.
	Reason     Reason
	Message    string
	Metadata   map[string]string
	Violations []Violation
	// When to come again, where the service said so.
	RetryAfter time.Duration

	status *status.Status
	// Whether the service said so: it may be at once.
	again bool
}

func (e *Error) Error() string {
	why := string(e.Reason)
	if why == "" {
		why = e.Code.String()
	}
	return fmt.Sprintf("%s (%s)", e.Message, why)
}

// Is tells whether this has the reason `target`.
func (e *Error) Is(target error) bool {
	reason, ok := target.(Reason)
	return ok && reason == e.Reason
}

// GRPCStatus is the status as the service sent it.
func (e *Error) GRPCStatus() *status.Status { return e.status }

// Passing tells whether the same request may get through later, and is safe to send again.
func (e *Error) Passing() bool {
	switch e.Code {
	case codes.Unavailable:
		return true
	case codes.ResourceExhausted:
		return e.again
	case codes.Canceled, codes.Internal, codes.Unknown:
		// What a connection that breaks in the middle of a call ends it with.
		return e.Reason == ""
	}
	return false
}

// ErrorOf is the *Error of what a stub returned; nil for nil.
func ErrorOf(err error) *Error {
	if err == nil {
		return nil
	}
	if known, ok := err.(*Error); ok {
		return known
	}
	said := status.Convert(err)
	made := &Error{Code: said.Code(), Message: said.Message(), status: said}
	for _, detail := range said.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			made.Reason, made.Metadata = Reason(detail.GetReason()), detail.GetMetadata()
		case *errdetails.RetryInfo:
			made.RetryAfter, made.again = detail.GetRetryDelay().AsDuration(), true
		case *errdetails.BadRequest:
			for _, one := range detail.GetFieldViolations() {
				made.Violations = append(made.Violations, Violation{one.GetField(), one.GetDescription()})
			}
		}
	}
	return made
}
