import type { AgentEvent } from '../../contract/run/event.ts'
import type { SavedState } from '../../contract/session/shared-state.ts'
import { anything, aText, listOf, options as optionsOf } from '../../contract/shape/shape.ts'
import { type RunEncoderOptions, runEncoderFields, streamHeaders } from '../shared/encoding.ts'
import type { WaitingForPerson } from '../shared/open-calls.ts'
import type { AgUiEvent } from './ag-ui-event.ts'

/** What an encoder has to know besides the events. With `restate` all of `history` comes first, as `MESSAGES_SNAPSHOT`; a `cost` is the custom event `phi.usage`. */
export interface AgUiEncoderOptions extends RunEncoderOptions {
  /** What the client calls the conversation. Default: the session's id. */
  threadId?: string
  /** What the client calls the run. Default: the id of the loop. */
  runId?: string
  /** What the session shares with its pages, as it is now: sent first, as `STATE_SNAPSHOT`, then what changes. Default: nothing is shared. */
  sharedState?: SavedState
  /** Ids of the calls whose results the client itself has sent: it has them, and a second message would repeat them. */
  sentResults?: readonly string[]
}

/** Checks the options of an encoder. */
export const encoderOptions = optionsOf<AgUiEncoderOptions>({
  ...runEncoderFields,
  threadId: aText,
  runId: aText,
  sharedState: anything,
  sentResults: listOf(aText),
})

/** Turns the events of one run into the events of one response. */
export interface AgUiEncoder {
  /** The AG-UI events for `event`; any number. After the end of the run: none. */
  encode(event: AgentEvent): AgUiEvent[]
  /** Takes note of an event that the client has seen in a response before this one. */
  skip(event: AgentEvent): void
  /** Whether the run waits for a person, or for what the page runs. A client answers in a new run, and only after this one has ended: end it with `suspend`. */
  readonly waiting: WaitingForPerson
  /** The last events of a response whose run goes on elsewhere: `RUN_FINISHED` with the interrupts. */
  suspend(): AgUiEvent[]
  /** The last events when ours have ended without `agentEnd`; none after it. */
  end(): AgUiEvent[]
  /** The last events when ours could not be read on; none after `agentEnd`. Errors that are not ours are not shown. */
  fail(error: unknown): AgUiEvent[]
}

/** The headers of an AG-UI stream. */
export const agUiHeaders: Readonly<Record<string, string>> = streamHeaders

/** One event as a server-sent event. Throws what `JSON.stringify` throws. */
export function agUiSse(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`
}
