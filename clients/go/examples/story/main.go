// The whole story from Go: a conversation, an edit, a run that breaks off and goes on, a draft, its acceptance,
// and the feed. Checks what it is told at every step; ends with 1 at the first that is not so.
//
// It asks STEMMA_CONVERSATION and STEMMA_DRAFT, with STEMMA_API_KEY if it is set.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	conversationv1 "stemma.example/client/gen/conversation/v1"
	draftv1 "stemma.example/client/gen/draft/v1"
	kernelv1 "stemma.example/client/gen/kernel/v1"
	"stemma.example/client/stemma"
)

const (
	fifteen = "My train leaves in fifteen minutes. Is there time for a coffee?"
	fifty   = "My train leaves in fifty minutes. Is there time for a coffee?"
)

// story is one project with one session, and the head that its branch should have.
type story struct {
	client                     *stemma.Client
	projectID, sessionID, head string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("story: ")
	client, err := stemma.Dial(stemma.FromEnvironment())
	must(err)
	defer client.Close()
	ctx := context.Background()
	made, err := client.Projects.CreateProject(ctx, &conversationv1.CreateProjectRequest{Title: "The story in Go"})
	must(err)
	s := &story{client: client, projectID: made.Project.ProjectId}
	s.session(ctx)
	s.append(ctx)
	s.edit(ctx)
	s.conflict(ctx)
	s.respond(ctx)
	s.accept(ctx, s.draft(ctx))
	s.watch(ctx)
	s.refusals(ctx)
	fmt.Println("ok")
}

func (s *story) session(ctx context.Context) {
	request := &conversationv1.CreateSessionRequest{
		RequestId: stemma.NewRequestID(), ProjectId: s.projectID, Title: "Coffee"}
	made, err := s.client.Sessions.CreateSession(ctx, request)
	must(err)
	again, err := s.client.Sessions.CreateSession(ctx, request)
	must(err)
	check(again.Session.SessionId == made.Session.SessionId, "one request_id makes one session")
	s.sessionID, s.head = made.Session.SessionId, made.Session.RootFloorId
	say("session", "asked for twice with one request_id, made once")
}

func (s *story) append(ctx context.Context) {
	done, err := s.client.Floors.AppendFloor(ctx, &conversationv1.AppendFloorRequest{
		SessionId: s.sessionID, ExpectedHead: s.head, Input: user(fifteen), Output: assistant("Hardly.")})
	must(err)
	check(done.Branch.HeadFloorId == done.Floor.FloorId, "the new floor is the head")
	s.head = done.Floor.FloorId
	say("append", "a turn, committed")
}

func (s *story) edit(ctx context.Context) {
	before := s.head
	done, err := s.client.Floors.EditFloor(ctx, &conversationv1.EditFloorRequest{
		FloorId: before, Input: user(fifty), Output: assistant("Plenty of it.")})
	must(err)
	s.head = done.Floor.FloorId
	kept, err := s.client.Floors.ListSiblings(ctx, &conversationv1.ListSiblingsRequest{FloorId: s.head})
	must(err)
	check(len(kept.Floors) == 2 && kept.Floors[0].FloorId == before && kept.Floors[1].FloorId == s.head,
		"both versions are kept")
	path := s.path(ctx)
	check(len(path) == 1 && text(path[0].InputPage) == fifty, "the path has the edited turn alone")
	say("edit", "fifteen became fifty; the path has the new turn, the old one stays beside it")
}

func (s *story) conflict(ctx context.Context) {
	turn := &conversationv1.AppendFloorRequest{
		SessionId: s.sessionID, ExpectedHead: stemma.NewRequestID(), Input: user("Thanks.")}
	_, err := s.client.Floors.AppendFloor(ctx, turn)
	var moved *stemma.Error
	check(errors.Is(err, stemma.HeadMoved) && errors.As(err, &moved), "a wrong expected_head is refused")
	check(moved.Metadata["current_head"] == s.head, "HEAD_MOVED names the head")
	turn.ExpectedHead = moved.Metadata["current_head"]
	done, err := s.client.Floors.AppendFloor(ctx, turn)
	must(err)
	s.head = done.Floor.FloorId
	say("conflict", "HEAD_MOVED named the head; the turn went in below it")
}

func (s *story) respond(ctx context.Context) {
	run := s.client.Respond(ctx, &conversationv1.RespondRequest{SessionId: s.sessionID,
		Action: &conversationv1.RespondRequest_Input{Input: &conversationv1.RespondInput{Messages: user("Which one?")}}})
	var seen []*kernelv1.RunEvent
	for len(seen) < 3 && run.Next() {
		seen = append(seen, run.Event())
	}
	// Hanging up ends the call, not the run: that is the server's.
	run.Close()
	must(run.Err())
	floor := committed(seen, s.client.Attach(ctx, run.ID(), run.Position()))
	path := s.path(ctx)
	check(proto.Equal(path[len(path)-1], floor), "the path ends with the floor of the last frame")
	s.head = floor.FloorId
	say("respond", "hung up after 3 frames, attached after the third: no frame lost, none twice")
}

// draft returns the id of the staged write that came of it.
func (s *story) draft(ctx context.Context) string {
	drafted, err := s.client.Drafts.CreateDraft(ctx, &draftv1.CreateDraftRequest{
		Source: &draftv1.CreateDraftRequest_SessionId{SessionId: s.sessionID}, Purpose: "a second opinion"})
	must(err)
	committed(nil, s.client.RespondInDraft(ctx, &draftv1.RespondRequest{DraftId: drafted.Draft.DraftId,
		Action: &draftv1.RespondRequest_Input{Input: &draftv1.RespondInput{Messages: user("Say it differently.")}}}))
	exported, err := s.client.Drafts.ExportDraft(ctx, &draftv1.ExportDraftRequest{
		DraftId:  drafted.Draft.DraftId,
		Target:   &kernelv1.StagedTarget{Placement: kernelv1.Placement_PLACEMENT_NEXT_FLOOR},
		Parts:    []*draftv1.ExportPart{{Part: &draftv1.ExportPart_OutputPage{OutputPage: &draftv1.ExportOutputPage{}}}},
		Reason:   "reads better",
		Finalize: true,
	})
	must(err)
	path := s.path(ctx)
	check(path[len(path)-1].FloorId == s.head, "a draft and its export leave the conversation as it is")
	say("draft", "answered beside the conversation, exported, nothing of it there yet")
	return exported.StagedWriteId
}

func (s *story) accept(ctx context.Context, stagedWriteID string) {
	accepted, err := s.client.StagedWrites.AcceptStagedWrite(ctx, &conversationv1.AcceptStagedWriteRequest{
		StagedWriteId: stagedWriteID, ExpectedHead: s.head, Reason: "agreed"})
	must(err)
	check(accepted.Floor.ParentFloorId == s.head, "it became the head's child")
	path := s.path(ctx)
	check(proto.Equal(path[len(path)-1], accepted.Floor), "and the head")
	_, err = s.client.StagedWrites.AcceptStagedWrite(ctx, &conversationv1.AcceptStagedWriteRequest{
		StagedWriteId: stagedWriteID, Reason: "agreed again"})
	check(errors.Is(err, stemma.AlreadyDecided), "a second decision is refused")
	say("accept", "the draft's answer is a turn now; a second decision is refused")
}

func (s *story) watch(ctx context.Context) {
	var last int64
	turns, accepted := 0, false
	for !accepted {
		feed := s.client.Watch(ctx, s.projectID, last)
		// A few at a time: each time the feed is asked for what follows the last position.
		for taken := 0; taken < 4 && !accepted && feed.Next(); taken++ {
			event := feed.Event()
			check(event.Position == last+1, "each event once, in order")
			last = event.Position
			if event.Type == "floor.committed" {
				turns++
			}
			accepted = event.Type == "staged_write.accepted"
		}
		feed.Close()
		must(feed.Err())
	}
	check(turns == 5, "each turn has its event")
	say("watch", fmt.Sprintf("%d events, four at a time, each once and in order", last))
}

func (s *story) refusals(ctx context.Context) {
	_, err := s.client.Sessions.GetSession(ctx, &conversationv1.GetSessionRequest{SessionId: stemma.NewRequestID()})
	check(errors.Is(err, stemma.NotFound), "an unknown session is not found")
	listed, err := s.client.Events.ListEvents(ctx, &conversationv1.ListEventsRequest{ProjectId: s.projectID})
	must(err)
	limited, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	silent, err := s.client.Events.WatchEvents(limited, &conversationv1.WatchEventsRequest{
		ProjectId: s.projectID, After: listed.LastPosition})
	must(err)
	_, err = silent.Recv()
	check(status.Code(err) == codes.DeadlineExceeded, "the deadline ends it")
	say("refusals", "NOT_FOUND has a type of its own; a deadline is kept")
}

func (s *story) path(ctx context.Context) []*kernelv1.Floor {
	listed, err := s.client.Floors.ListPath(ctx, &conversationv1.ListPathRequest{SessionId: s.sessionID})
	must(err)
	return listed.Floors
}

// committed follows a run to its end. The floor that it ends with says what the frames say, `seen` the first.
func committed(seen []*kernelv1.RunEvent, rest *stemma.Run) *kernelv1.Floor {
	defer rest.Close()
	for rest.Next() {
		seen = append(seen, rest.Event())
	}
	must(rest.Err())
	joined := ""
	for number, event := range seen {
		check(event.Seq == int64(number+1), "frames are numbered in a row")
		joined += event.GetTextDelta().GetText()
	}
	floor := seen[len(seen)-1].GetFloorCommitted().GetFloor()
	check(floor != nil, "the last frame says what was committed")
	check(joined != "" && joined == text(floor.OutputPage), "the frames' text is the page's")
	return floor
}

func user(text string) []*kernelv1.Message { return message(kernelv1.Role_ROLE_USER, text) }

func assistant(text string) []*kernelv1.Message { return message(kernelv1.Role_ROLE_ASSISTANT, text) }

func message(role kernelv1.Role, text string) []*kernelv1.Message {
	part := &kernelv1.Part{Kind: &kernelv1.Part_Text{Text: &kernelv1.TextPart{Text: text}}}
	return []*kernelv1.Message{{Role: role, Parts: []*kernelv1.Part{part}}}
}

func text(page *kernelv1.Page) string {
	whole := ""
	for _, message := range page.GetMessages() {
		for _, part := range message.Parts {
			whole += part.GetText().GetText()
		}
	}
	return whole
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func check(true bool, what string) {
	if !true {
		log.Fatalf("not so: %s", what)
	}
}

func say(step, what string) { fmt.Printf("%-9s %s\n", step, what) }
