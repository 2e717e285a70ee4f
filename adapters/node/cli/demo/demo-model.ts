import { type Model, type ToolResultMessage, textOf } from '../../../../src/index.ts'
import type { StreamRequest } from '../../../../src/providers.ts'
import { type ScriptedStep, type ScriptedToolCall, scripted } from '../../../../testing/index.ts'

/** The demo's prompt. */
export const openingPrompt = 'A check fails. Find out why and fix it.'

/**
 * The demo's scripted model. It follows a fixed plan with real tools and reports their real results. Token counts are approximate and
 * prices invented, so that the demo shows a cost.
 */
export function demoModel(delayMs: number): Model {
  return scripted((request) => withUsage(request, step(request)), {
    id: 'demo',
    delayMs,
    chunkSize: 5,
    config: {
      provider: 'scripted',
      contextWindow: 32_000,
      cost: { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 },
    },
  })
}

function step(request: StreamRequest): ScriptedStep {
  const prompts = request.messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []))
  const at = request.messages.findIndex((message) => message.role === 'user' && textOf(message.content) === openingPrompt)
  if (at === -1) return notUnderstood(prompts.at(-1) ?? '')
  const results = request.messages.slice(at).filter((message) => message.role === 'toolResult')
  const hasAnswered = request.messages.slice(at).some((message) => message.role === 'assistant' && message.stopReason === 'stop')
  if (hasAnswered) return notUnderstood(prompts.at(-1) ?? '')
  const isSteered = prompts.at(-1) !== openingPrompt && request.messages.at(-1)?.role === 'user'
  const next = plan(request, results)
  return isSteered
    ? { ...next, text: `You said: "${prompts.at(-1)}". I am a script and cannot respond to that, so I continue. ${next.text ?? ''}` }
    : next
}

/** Steps: look, read, fix, check, report. */
function plan(request: StreamRequest, results: readonly ToolResultMessage[]): ScriptedStep {
  const [log] = of(results, 'search')
  const [source] = of(results, 'read_file')
  const [edit] = of(results, 'edit_file')
  const [check] = of(results, 'bash')
  if (log === undefined) {
    return {
      thinking: 'A check fails, so there must be a log or a script that I can run. I list the files and search for the failure.',
      text: 'I look at the project and search for the failure.',
      toolCalls: [call('list_files', { path: '.' }), call('search', { pattern: 'FAIL' })],
    }
  }
  if (source === undefined) {
    return {
      thinking: '40 and 60 make exactly 100. The discount of 10 starts at 100, so the comparison probably uses the wrong operator.',
      text: 'The sum of **exactly 100** is wrong. I read the code.',
      toolCalls: [call('read_file', { path: 'total.sh' })],
    }
  }
  if (edit === undefined) {
    return {
      thinking: '`-gt` is greater than. The comment says "from 100 on", which is `-ge`.',
      text: 'Found it: `-gt` excludes 100. I change one word.',
      toolCalls: [call('edit_file', { path: 'total.sh', old_text: '-gt 100', new_text: '-ge 100' })],
    }
  }
  if (check === undefined && request.tools.some(({ name }) => name === 'bash')) {
    return {
      text: 'Now I run the checks again. This runs a command, so it needs your approval.',
      toolCalls: [call('bash', { command: 'sh check.sh' })],
    }
  }
  return { text: report(edit, check) }
}

function report(edit: ToolResultMessage, check: ToolResultMessage | undefined): string {
  const output = check === undefined ? '' : textOf(check.content)
  const rows = Array.from(
    output.matchAll(/^(ok|FAIL) +(.+?) makes (\d+)/gm),
    ([, verdict, prices, sum]) => `| ${prices} | ${sum} | ${verdict} |`,
  )
  const count = /^(\d+) of (\d+) checks passed$/m.exec(output)
  const ending =
    count === null
      ? `The checks were not run (${check === undefined ? 'there is no bash' : 'you did not allow it'}), so I cannot confirm the fix.`
      : `**${count[1]} of ${count[2]}** checks pass.`
  return [
    edit.isError ? '## Not fixed' : '## Fixed',
    '',
    edit.isError
      ? 'The file could not be changed.'
      : 'The discount started *above* 100 instead of *at* 100. I changed one word in `total.sh`:',
    '',
    '```sh',
    'if [ "$sum" -ge 100 ]; then sum=$((sum - 10)); fi',
    '```',
    '',
    ...(rows.length === 0 ? [] : ['| Prices | Total | |', '|---|---|---|', ...rows, '']),
    ending,
    '',
    '- The tools were real; this model is a script.',
    '- `/usage`, `/tree` and `/export` show what happened, `/help` lists all commands.',
    '',
  ].join('\n')
}

function notUnderstood(question: string): ScriptedStep {
  return {
    thinking: 'That is not in my script.',
    text: `I am a script, and \`${question.slice(0, 60).replaceAll('`', "'")}\` is not in it. Try \`/usage\`, \`/tree\`, \`/session\`, \`/compact\` or \`/export\`; for a model that understands you set \`ANTHROPIC_API_KEY\`, \`OPENAI_API_KEY\` or \`GEMINI_API_KEY\`, or run \`phi --model ollama/llama3.3\`.\n`,
  }
}

const of = (results: readonly ToolResultMessage[], toolName: string) => results.filter((result) => result.toolName === toolName)

function call(name: string, args: ScriptedToolCall['arguments']): ScriptedToolCall {
  return { name, arguments: args }
}

/** Estimates four characters per token. */
function withUsage({ messages, systemPrompt }: StreamRequest, next: ScriptedStep): ScriptedStep {
  const input = Math.ceil((JSON.stringify(messages).length + (systemPrompt?.length ?? 0)) / 4)
  const text = [next.thinking, next.text].map((part) => (typeof part === 'string' ? part : '')).join('')
  return { ...next, usage: { input, output: Math.ceil((text.length + JSON.stringify(next.toolCalls ?? []).length) / 4) } }
}
