import type { AgentMessage, Model } from '../../src/index.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'

/**
 * A model that says what it is, and proves with real tool calls that the loop runs here. Where it may remember something, a person is asked first.
 * What it says depends on the conversation alone: a session goes on after its object was ended.
 */
export function demoModel(): Model {
  return scripted(({ messages, tools }) => nextStep(messages, new Set(tools.map(({ name }) => name))), { delayMs: 20, chunkSize: 8 })
}

function nextStep(messages: readonly Pick<AgentMessage, 'role'>[], tools: ReadonlySet<string>): ScriptedStep {
  const results = messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .filter(({ role }) => role === 'toolResult').length
  if (results === 0) return { text: introduction, toolCalls: [{ name: 'current_time', arguments: {} }] }
  if (results === 1 && tools.has('remember')) {
    return { text: 'May I remember that you were here? ', toolCalls: [{ name: 'remember', arguments: { fact: 'Somebody was here.' } }] }
  }
  return { text: 'The tool has answered, so the whole loop runs in this Worker.' }
}

const introduction =
  'I am a scripted model; set ANTHROPIC_API_KEY for a real one. I say a little more than I have to, so that you can watch the words arrive, ' +
  'close the page in the middle, and find the rest when you come back: in a session the run goes on, whether anybody reads it or not. '
