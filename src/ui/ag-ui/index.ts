/**
 * Runs of our agents for clients of AG-UI 1.0: events to events, histories to messages, and what their requests say. Pure, in any runtime, without
 * a package of AG-UI.
 *
 * @module
 */
export { approvalIdOf, parseApprovalId, type Read, type ToolDecision } from '../shared/client-input.ts'
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
export { type AgUiEncoder, type AgUiEncoderOptions, agUiHeaders, agUiSse } from './encoder-contract.ts'
export { agUiStanding } from './interrupts.ts'
export { type RunInput, readRunInput } from './read-run-input.ts'
export type { ClientState } from './shared-state.ts'
export { toAgUiMessages } from './to-ag-ui-messages.ts'
