import type { AgentMessage } from '../../contract/message/message.ts'

/** What a filter thinks of an input: let it pass, let it pass with a warning for the model, or refuse it. */
export type FilterVerdict = { type: 'pass' } | { type: 'warn'; warning: string } | { type: 'reject'; reason: string }

/**
 * Looks at what a person says before a model does: prompts, steering and follow-ups.
 *
 * **Contract**
 * - Gets the text of all user messages of one input, joined by line breaks (no images), the messages themselves, and a signal owned by the loop.
 * - Filters run one after the other. Warnings add up and are appended to the last user message as one text block, a line
 *   `[Warning: …]` each. The first `reject` wins: `inputRejected`, the model is not asked, the run ends with status `rejected`, and
 *   the receipt of a queued message says `returned`.
 * - A filter that throws, or answers something else, refuses the input.
 *
 * Source: docs/concepts/input-filters.md
 */
export type InputFilter = (
  text: string,
  info: { messages: readonly AgentMessage[]; signal: AbortSignal },
) => FilterVerdict | Promise<FilterVerdict>
