import type { SavedState } from '../../contract/session/shared-state.ts'
import { anything, aText, listOf, options as optionsOf } from '../../contract/shape/shape.ts'
import { type RunEncoder, type RunEncoderOptions, runEncoderFields, streamHeaders } from '../shared/encoding.ts'
import type { AgUiEvent } from './ag-ui-event.ts'

/** Options for an AG-UI encoder. `restate` sends `history` first, as `MESSAGES_SNAPSHOT`. `cost` adds the custom event `phi.usage`. */
export interface AgUiEncoderOptions extends RunEncoderOptions {
  /** The client's conversation id. Default: the session id. */
  threadId?: string
  /** The client's run id. Default: the loop id. */
  runId?: string
  /** The current shared state. Sent first as `STATE_SNAPSHOT`, followed by changes. Default: none. */
  sharedState?: SavedState
  /** Ids of the calls whose results the client submitted. The encoder does not send these results again. */
  sentResults?: readonly string[]
}

/** Validates the encoder options. */
export const encoderOptions = optionsOf<AgUiEncoderOptions>({
  ...runEncoderFields,
  threadId: aText,
  runId: aText,
  sharedState: anything,
  sentResults: listOf(aText),
})

/** Encodes one run as one AG-UI response. A client resolves interrupts by starting a new run. */
export interface AgUiEncoder extends RunEncoder<AgUiEvent> {}

/** HTTP headers of an AG-UI stream. */
export const agUiHeaders: Readonly<Record<string, string>> = streamHeaders

/** Formats an event as a server-sent event. Throws the same errors as `JSON.stringify`. */
export function agUiSse(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`
}
