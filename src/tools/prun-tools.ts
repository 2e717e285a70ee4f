import { ToolError } from '../contract/errors.ts'
import type { JsonSchema } from '../contract/json.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { defineTool } from './define-tool.ts'

const tokensSchema: JsonSchema = {
  type: 'integer',
  description: 'How many tokens to remove, more than 0; a token is about 4 characters. Whole calls are removed, so it can be some more.',
}

const whatGoes =
  'Removes your own latest messages, each call together with its results, newest first, until about `tokens` tokens are gone. User messages, the messages of the present turn and the content of an earlier summary always stay. It happens after this turn.'

/**
 * Creates `prun` and `prun_with_memo`: the model removes messages that it no longer needs from its context, newest first.
 *
 * **Contract**: both return `Prun request recorded: N tokens will be removed before next turn.`. The loop applies the change after the
 * results of the turn and emits `prunApplied`. The history stays complete.
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
    description: `Free room in the context when your latest calls led nowhere and nothing of them is worth keeping. Examples are a file that turned out irrelevant, or a long output that did not help. ${whatGoes} Use prun_with_memo when something was learnt.`,
    parameters: { type: 'object', properties: { tokens: tokensSchema }, required: ['tokens'] },
    execute({ tokens }, ctx) {
      checkTokens(tokens)
      ctx.changeContext({ type: 'prune', tokens })
      return recorded(tokens)
    },
  })
}

/** Maximum memo length in characters: every later request contains the memo. */
const maxMemoChars = 16_000

function prunWithMemo(): AgentTool {
  return defineTool<{ tokens: number; memo: string }>({
    name: 'prun_with_memo',
    label: 'Prune Context With Memo',
    description: `Free room in the context and keep what was learnt: a memo of yours stands where the removed messages were. ${whatGoes}`,
    parameters: {
      type: 'object',
      properties: {
        tokens: tokensSchema,
        memo: { type: 'string', description: 'What to remember of it: facts, decisions, places. A few sentences.' },
      },
      required: ['tokens', 'memo'],
    },
    execute({ tokens, memo }, ctx) {
      checkTokens(tokens)
      if (memo.trim() === '') throw new ToolError('invalidArguments', 'Invalid arguments: memo is empty. Write one, or use prun.')
      if (memo.length > maxMemoChars) {
        const words = `Invalid arguments: memo has ${memo.length} characters; at most ${maxMemoChars} are kept. Say it shorter.`
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
