// A chat in one file: copy it, and begin.
//
// It asks STEMMA_CONVERSATION, with STEMMA_API_KEY if it is set. Each line is a turn. `/edit WORDS` says the last
// one differently, `/again` asks for another answer to it: both keep what was there. Ends with the input.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	conversationv1 "stemma.example/client/gen/conversation/v1"
	kernelv1 "stemma.example/client/gen/kernel/v1"
	"stemma.example/client/stemma"
)

func main() {
	client, err := stemma.Dial(stemma.FromEnvironment())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx := context.Background()
	made, err := client.Sessions.CreateSession(ctx, &conversationv1.CreateSessionRequest{Title: "Chat"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("session", made.Session.SessionId)
	last := ""
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		request := turn(line, last)
		request.SessionId = made.Session.SessionId
		run := client.Respond(ctx, request)
		for run.Next() {
			last = run.Event().FloorId
			fmt.Print(run.Event().GetTextDelta().GetText())
			if failed := run.Event().GetFailed(); failed != nil {
				fmt.Printf("[failed: %s]", failed.Reason)
			}
		}
		if run.Err() != nil {
			fmt.Printf("[%v]", run.Err())
		}
		fmt.Println()
	}
}

// turn is what a line asks for. `last` is the id of the last turn's floor; empty, it is the first.
func turn(line, last string) *conversationv1.RespondRequest {
	command, words, _ := strings.Cut(line, " ")
	switch {
	case command == "/again" && last != "":
		again := &conversationv1.RespondRegenerate{FloorId: last}
		return &conversationv1.RespondRequest{Action: &conversationv1.RespondRequest_Regenerate{Regenerate: again}}
	case command == "/edit" && last != "":
		edit := &conversationv1.RespondEdit{FloorId: last, Messages: user(words)}
		return &conversationv1.RespondRequest{Action: &conversationv1.RespondRequest_Edit{Edit: edit}}
	}
	input := &conversationv1.RespondInput{Messages: user(line)}
	return &conversationv1.RespondRequest{Action: &conversationv1.RespondRequest_Input{Input: input}}
}

func user(text string) []*kernelv1.Message {
	part := &kernelv1.Part{Kind: &kernelv1.Part_Text{Text: &kernelv1.TextPart{Text: text}}}
	return []*kernelv1.Message{{Role: kernelv1.Role_ROLE_USER, Parts: []*kernelv1.Part{part}}}
}
