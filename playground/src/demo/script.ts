import { estimateTokens } from '../../../src/context.ts'
import { type Citation, type FileContent, type ImageContent, type Message, textOf, type Usage } from '../../../src/index.ts'
import type { StreamRequest } from '../../../src/providers.ts'
import type { ScriptedStep } from '../../../testing/index.ts'
import type { DemoScript } from './model.ts'
import type { Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

/** The markers that `revert_to_state` puts before messages, and the summaries that it leaves. */
const mark = /^<<\w{8} \[/
const note = /^<<\w{8} \[(?:lesson|finding|outcome|checkpoint)\]/

interface Place {
  scenario: Scenario
  turn: number
  isFailed: boolean
}

/** Plays the scenario for the last prompt, one response after another, and counts tokens like a provider. */
export function demoScript(): DemoScript {
  const counted = usageCounter()
  let place: Place | undefined
  return async (request) => {
    const { messages } = request
    place = await nextPlace(place, messages)
    const step = place === undefined ? freeAnswer(messages) : ((await answerAt(place, messages)) ?? { text: 'That is all I have.' })
    if (place !== undefined) place.isFailed = step.fail !== undefined
    return { ...step, usage: counted(request, step) }
  }
}

async function nextPlace(place: Place | undefined, messages: readonly Message[]) {
  const last = messages.at(-1)
  if (last === undefined) return undefined
  if (last.role !== 'user') return place === undefined ? placeIn(messages) : { ...place, turn: place.turn + 1 }
  const scenario = scenarioOf(last)
  const goesOn =
    place?.scenario === scenario && (place?.isFailed || last.content.some((block) => block.type === 'text' && note.test(block.text)))
  if (place !== undefined && goesOn) return { ...place, turn: place.turn + 1 }
  return scenario && { scenario, turn: 0, isFailed: false }
}

/** Returns the position in a stored conversation, after its responses. */
async function placeIn(messages: readonly Message[]): Promise<Place | undefined> {
  const asked = messages.findLastIndex((message) => message.role === 'user' && scenarioOf(message) !== undefined)
  const prompt = messages[asked]
  const scenario = prompt && scenarioOf(prompt)
  if (scenario === undefined) return undefined
  let answers = messages.slice(asked).filter((message) => message.role === 'assistant').length
  for (let turn = 0; ; turn++) {
    const step = await scenario.answer(turn, [])
    if (step === undefined || (step.fail === undefined && answers-- === 0)) return { scenario, turn, isFailed: false }
  }
}

function scenarioOf(message: Message): Scenario | undefined {
  const text = wordsOf(message)
  return scenarios.find(({ prompt }) => prompt === text)
}

/** Returns a message's text without markers. */
function wordsOf({ content }: Message): string {
  return textOf(content.filter((block) => block.type !== 'text' || !mark.test(block.text)))
}

async function answerAt({ scenario, turn }: Place, messages: readonly Message[]): Promise<ScriptedStep | undefined> {
  const asked = messages.findLastIndex((message) => message.role === 'user' && scenarioOf(message) === scenario)
  const results = messages.slice(asked + 1).flatMap((message) => (message.role === 'toolResult' ? [wordsOf(message)] : []))
  const step = await scenario.answer(turn, results)
  const label = /\[(n\d+)\]/.exec(textOf(messages[asked]?.content ?? []))?.[1] ?? 'n0'
  if (step?.citations !== undefined) return { ...step, citations: step.citations.map((citation) => placed(citation, messages)) }
  if (step?.toolCalls === undefined) return step
  const calls: typeof step.toolCalls = JSON.parse(JSON.stringify(step.toolCalls).replaceAll('{asked}', label))
  return { ...step, toolCalls: calls.map((call) => ({ ...call, id: callId() })) }
}

/** Creates a citation with its block, as providers that cite documents do. */
function placed(citation: Citation, messages: readonly Message[]): Citation {
  const { document: within } = citation
  const documents = messages.flatMap((message) => {
    const messageId = 'id' in message && typeof message.id === 'string' ? message.id : ''
    return message.content.filter(({ type }) => type === 'file').map((_file, fileIndex) => ({ messageId, fileIndex }))
  })
  return within === undefined ? citation : { ...citation, document: { ...within, ...documents[within.index] } }
}

/** Unique ids. After a revert, a request has fewer calls than were made, so counting them would reuse an id. */
function callId(): string {
  return `call-${Math.random().toString(36).slice(2, 10)}`
}

function freeAnswer(messages: readonly Message[]): ScriptedStep {
  const last = messages.findLast((message) => message.role === 'user')
  const lastText = last === undefined ? '' : wordsOf(last)
  const sent = last?.content.flatMap((block) => (block.type === 'image' || block.type === 'file' ? [`- ${nameOf(block)}`] : [])) ?? []
  const files = sent.length === 0 ? '' : `\n\nWith it came:\n\n${sent.join('\n')}`
  return {
    text: `You wrote: “${lastText}”.${files}\n\nI am a scripted model and cannot answer that. I only know the scenarios below. One line of code replaces me with a real model.`,
  }
}

function nameOf(block: ImageContent | FileContent): string {
  return block.type === 'file' ? `${block.name ?? 'a file'} (${block.mimeType})` : `a picture (${block.mimeType})`
}

/** Estimates a provider's token count. A repeated prefix comes from its cache. */
export function usageCounter(): (request: StreamRequest, step: ScriptedStep) => Partial<Usage> {
  let before: string[] = []
  return ({ systemPrompt, tools, messages }, { thinking = '', text = '', toolCalls = [] }) => {
    const parts = [JSON.stringify([systemPrompt, tools]), ...messages.map(({ role, content }) => JSON.stringify([role, content]))]
    const parted = parts.findIndex((part, at) => part !== before[at])
    const common = parted < 0 ? parts.length : parted
    const tokens = (list: readonly string[]) => list.reduce((sum, part) => sum + estimateTokens(part), 0)
    before = parts
    const reasoning = estimateTokens(String(thinking))
    const output = reasoning + estimateTokens(String(text)) + estimateTokens(toolCalls.length > 0 ? JSON.stringify(toolCalls) : '')
    return { input: tokens(parts.slice(common)), cacheRead: tokens(parts.slice(0, common)), output, reasoning }
  }
}
