/**
 * Runs of our agents for clients of AG-UI 1.0: events to events, histories to messages, and what their requests say. Pure, in any runtime, without
 * a package of AG-UI.
 *
 * @module
 */
export { approvalIdOf, parseApprovalId, type ToolDecision } from '../shared/approval-id.ts'
export type { Read } from '../shared/client-input.ts'
export type { WaitingForPerson } from '../shared/open-calls.ts'
export type {
  AgUiContentEvent,
  AgUiEvent,
  AgUiInterrupt,
  AgUiMessage,
  AgUiPart,
  AgUiRunEvent,
  AgUiTokenUsage,
  AgUiToolCall,
} from './ag-ui-event.ts'
export { agUiEncoder } from './encoder.ts'
export type { AgUiEncoder, AgUiEncoderOptions } from './encoder-contract.ts'
export { agUiHeaders, agUiSse } from './encoder-contract.ts'
export { type RunInput, readRunInput } from './read-run-input.ts'
export type { ClientState } from './shared-state.ts'
export { agUiStanding } from './standing.ts'
export { toAgUiMessages } from './to-ag-ui-messages.ts'
