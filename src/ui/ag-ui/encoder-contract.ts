import type { SavedState } from '../../contract/session/shared-state.ts'
import { anything, aText, listOf, options as optionsOf } from '../../contract/shape/shape.ts'
import { type RunEncoder, type RunEncoderOptions, runEncoderFields, streamHeaders } from '../shared/encoding.ts'
import type { AgUiEvent } from './ag-ui-event.ts'

/** Options of an encoder. With `restate`, all of `history` comes first, as `MESSAGES_SNAPSHOT`; a `cost` is the custom event `phi.usage`. */
export interface AgUiEncoderOptions extends RunEncoderOptions {
  /** The client's id of the conversation. Default: the session's id. */
  threadId?: string
  /** The client's id of the run. Default: the id of the loop. */
  runId?: string
  /** The current shared state: sent first, as `STATE_SNAPSHOT`, then its changes. Default: none. */
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

/** Encodes the events of one run as the events of one response. A client resolves interrupts with a new run. */
export interface AgUiEncoder extends RunEncoder<AgUiEvent> {}

/** The headers of an AG-UI stream. */
export const agUiHeaders: Readonly<Record<string, string>> = streamHeaders

/** Returns an event as a server-sent event. Throws what `JSON.stringify` throws. */
export function agUiSse(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`
}
