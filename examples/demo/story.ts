import { type ToolResultMessage, textOf } from 'phi-core'
import type { StreamRequest } from 'phi-core/providers'
import type { ScriptedStep } from 'phi-core/testing'
import { ownEdit } from './project.ts'

/** Default prompt of the demo. */
export const opening = 'A test fails. Find out why, and mend it.'

/**
 * The scripted model of the demo: a fixed plan with real tools. It reports only what they returned. Token counts are estimates, so that the demo can
 * show a cost.
 */
export function story(request: StreamRequest): ScriptedStep {
  const asked = request.messages.findLastIndex((message) => message.role === 'user')
  const results = request.messages.slice(asked).filter((message) => message.role === 'toolResult')
  const question = textOf(request.messages[asked]?.content ?? [])
  const step = question === opening ? next(results) : notUnderstood(question)
  const output = [step.thinking, step.text, JSON.stringify(step.toolCalls ?? '')].join('')
  return { ...step, usage: { input: tokens(JSON.stringify(request.messages)), output: tokens(output) } }
}

/** Estimates one token per four characters. */
const tokens = (text: string): number => Math.ceil(text.length / 4)

/** Test, read, fix, test again, report. */
function next(results: readonly ToolResultMessage[]): ScriptedStep {
  const [first, second] = results.filter(({ toolName }) => toolName === 'run_tests')
  const read = results.find(({ toolName }) => toolName === 'read_file')
  const edit = results.find(({ toolName }) => toolName === 'edit_file')
  if (first === undefined) return { text: 'I run the tests first.', toolCalls: [{ name: 'run_tests', arguments: {} }] }
  if (read === undefined) {
    return {
      thinking: 'Only the sum of exactly 100 is wrong. It may be compared with the wrong operator.',
      text: 'Exactly 100 is wrong, more than 100 is right. I look at the code.',
      toolCalls: [{ name: 'read_file', arguments: { path: ownEdit.path } }],
    }
  }
  if (edit === undefined) {
    return {
      text: 'The comment says "from 100 on", the code says "above 100". One character is missing.',
      toolCalls: [{ name: 'edit_file', arguments: { ...ownEdit } }],
    }
  }
  if (edit.isError) return { text: 'The file was not changed, so the test still fails.' }
  if (second === undefined) return { text: 'Now the tests again.', toolCalls: [{ name: 'run_tests', arguments: {} }] }
  const passed = textOf(second.content).match(/^ok /gm)?.length ?? 0
  const failed = textOf(second.content).match(/^FAIL /gm)?.length ?? 0
  return { text: failed === 0 ? `Mended: all ${passed} tests pass. The discount now begins at 100.` : `${failed} tests still fail.` }
}

function notUnderstood(question: string): ScriptedStep {
  const shown = JSON.stringify(question.slice(0, 60))
  return {
    text: `I am a script and do not understand ${shown}. For a real answer, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY.`,
  }
}
