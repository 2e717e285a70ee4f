/**
 * Encodes runs for clients of AG-UI 1.0: events to events, histories to messages, and requests to input. Pure, in any runtime, without an
 * AG-UI package.
 *
 * @module
 */

export type { AgUiEvent, AgUiInterrupt, AgUiMessage } from './ag-ui/ag-ui-event.ts'
export { agUiEncoder } from './ag-ui/encoder.ts'
export { type AgUiEncoder, agUiHeaders, agUiSse } from './ag-ui/encoder-contract.ts'
export { agUiStanding } from './ag-ui/interrupts.ts'
export { type RunInput, readRunInput } from './ag-ui/read-run-input.ts'
export { toAgUiMessages } from './ag-ui/to-ag-ui-messages.ts'
export type { Read } from './shared/client-input.ts'
