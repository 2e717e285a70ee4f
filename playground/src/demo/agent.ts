import { type AgentOptions, type InputFilter, type Message, memoryWorkspace, textOf } from '../../../src/index.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { files } from './files.ts'
import { answerAfter, currentScenario } from './scenarios.ts'
import { demoTools } from './tools.ts'

/** An agent on the scripted model, with tools over files in memory. */
export function demoOptions(): AgentOptions {
  const workspace = memoryWorkspace(files)
  return {
    model: scripted(demoScript(), { name: 'Demo model', delayMs: 24, chunkSize: 6 }),
    systemPrompt: 'You keep the logbook of a polar expedition.',
    tools: demoTools(workspace),
    workspace,
    thinking: 'low',
    inputFilters: [noPasswords],
  }
}

/** Refuses what should not be in a logbook, before the model sees it. */
const noPasswords: InputFilter = (text) =>
  /password/i.test(text) ? { type: 'reject', reason: 'A logbook is no place for passwords: the model was not asked.' } : { type: 'pass' }

/** Plays the scenario the last prompt asked for, answer by answer. */
function demoScript(): Script {
  const played = new WeakMap<Message, number>()
  return ({ messages }) => {
    const current = currentScenario(messages)
    if (current === undefined) return freeAnswer(messages)
    const { scenario, prompt, results } = current
    // A conversation that was read from the store has come as far as its answers.
    const turn = played.get(prompt) ?? answerAfter(current)
    played.set(prompt, turn + 1)
    return scenario.answers[turn]?.(results) ?? { text: 'That is all I have.' }
  }
}

function freeAnswer(messages: readonly Message[]) {
  const last = messages.findLast((message) => message.role === 'user')
  const said = last === undefined ? '' : textOf(last.content)
  const text = `You wrote: “${said}”.\n\nI am a scripted model and cannot answer that; the buttons below are what I know. A real model takes my place with one line of code.`
  return { text, usage: { input: 380, output: 52 } }
}
