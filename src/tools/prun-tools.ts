import { ToolError } from '../contract/errors.ts'
import type { JsonSchema } from '../contract/json.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { defineTool } from './define-tool.ts'

const tokensSchema: JsonSchema = {
  type: 'integer',
  description:
    'Number of tokens to remove, greater than 0. A token is about 4 characters. Only whole calls are removed, so slightly more may go.',
}

const whatGoes =
  'After this turn, removes your latest messages, newest first, each call with its results, until about `tokens` tokens are removed. Keeps user messages, the current turn and earlier summaries.'

/**
 * Creates `prun` and `prun_with_memo`, with which the model removes messages that it no longer needs from its context, newest first.
 *
 * **Contract**: both return `Prun request recorded: N tokens will be removed before next turn.`. The loop applies the change after the
 * turn's tool results and emits `prunApplied`. The history stays complete.
 *
 * Source: docs/concepts/context.md
 */
export function prunTools(): AgentTool[] {
  return [prun(), prunWithMemo()]
}

function prun(): AgentTool {
  return defineTool<{ tokens: number }>({
    name: 'prun',
    label: 'Prune Context',
    description: `Free context space when nothing in your latest calls is worth keeping, such as an irrelevant file or a long, useless output. ${whatGoes} If you learned something, use prun_with_memo.`,
    parameters: { type: 'object', properties: { tokens: tokensSchema }, required: ['tokens'] },
    execute({ tokens }, ctx) {
      checkTokens(tokens)
      ctx.changeContext({ type: 'prune', tokens })
      return recorded(tokens)
    },
  })
}

/** Maximum memo length in characters. Limited, because every later request contains the memo. */
const maxMemoChars = 16_000

function prunWithMemo(): AgentTool {
  return defineTool<{ tokens: number; memo: string }>({
    name: 'prun_with_memo',
    label: 'Prune Context With Memo',
    description: `Free context space and keep what you learned: your memo replaces the removed messages. ${whatGoes}`,
    parameters: {
      type: 'object',
      properties: {
        tokens: tokensSchema,
        memo: { type: 'string', description: 'What to remember from the removed messages: facts, decisions, file paths. A few sentences.' },
      },
      required: ['tokens', 'memo'],
    },
    execute({ tokens, memo }, ctx) {
      checkTokens(tokens)
      if (memo.trim() === '') throw new ToolError('invalidArguments', 'Invalid arguments: memo is empty. Write a memo, or use prun.')
      if (memo.length > maxMemoChars) {
        const words = `Invalid arguments: memo has ${memo.length} characters, but the limit is ${maxMemoChars}. Shorten it.`
        throw new ToolError('invalidArguments', words)
      }
      ctx.changeContext({ type: 'prune', tokens, memo })
      return recorded(tokens)
    },
  })
}

/** Checked here because the schema's error message would be less clear. */
function checkTokens(tokens: number): void {
  if (!(tokens > 0)) throw new ToolError('invalidArguments', 'Invalid arguments: tokens must be > 0')
}

function recorded(tokens: number): string {
  return `Prun request recorded: ${tokens} tokens will be removed before next turn.`
}
