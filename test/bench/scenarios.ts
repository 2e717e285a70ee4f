import { type Answer, encodeAnswer, type Wire } from './wire.ts'

/** Of a process that has run for long, and of one in its first second. */
export interface Goal {
  steady: number
  first: number
}

/** What is measured: the answers a service gives to one agent, as bytes, and how many agents run at once. */
export interface Scenario {
  id: string
  title: string
  wire: Wire
  agents: number
  /** Runs per sample, where one is too short to time. */
  repeat: number
  /** Largest ratios to the bare parse that are acceptable, from the goals of the project. */
  goal: Goal
  responses: Uint8Array[][]
  expected: { requests: number; deltas: number; calls: number }
}

const words = [
  'the',
  ' agent',
  ' loop',
  ' "quoted"',
  '\n\n',
  ' naïve',
  ' 東京',
  ' 🙂',
  ' of',
  ' streaming',
  ',',
  '\t- item',
  ' C:\\dir',
  ' and',
]

/** `count` pieces of about `size` characters, always the same, with escapes and non-ASCII as real answers have. */
function pieces(count: number, size: number): string[] {
  let seed = 42
  return Array.from({ length: count }, () => {
    let piece = ''
    while (piece.length < size - 2) {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
      piece += words[seed % words.length] ?? ''
    }
    return piece
  })
}

function toolCall(n: number, parts: number) {
  const json = JSON.stringify({ a: n, b: 2 * n, note: `call ${n}: please add these two numbers and tell me "the sum"` })
  const step = Math.ceil(json.length / parts)
  const fragments = Array.from({ length: parts }, (_, part) => json.slice(part * step, (part + 1) * step))
  return { id: `toolu_${String(n).padStart(20, '0')}`, name: 'add', fragments: fragments.filter((fragment) => fragment !== '') }
}

const last: Answer = { text: ['All', ' done', '.'] }
const toolTurns = (turns: number, id?: string): Answer[] => [
  ...Array.from({ length: turns }, (_, n) => ({ calls: [{ ...toolCall(n + 1, 8), ...(id !== undefined && { id }) }] })),
  last,
]
const fanOut = (calls: number): Answer[] => [{ calls: Array.from({ length: calls }, (_, n) => toolCall(n + 1, 4)) }, last]

type GoalPair = [steady: number, first: number]
const goals = (anthropic: GoalPair, openai: GoalPair): Record<Wire, Goal> => ({
  anthropic: { steady: anthropic[0], first: anthropic[1] },
  openai: { steady: openai[0], first: openai[1] },
})

interface Shape {
  title: string
  answers: () => Answer[]
  goals: Record<Wire, Goal>
  chunkBytes?: number
  agents?: number
  repeat?: number
}

const shapes: Record<string, Shape> = {
  'S1.event': {
    title: '20,000 text deltas, one event per chunk',
    answers: () => [{ text: pieces(20_000, 5) }],
    goals: goals([1.25, 1.5], [1.2, 1.3]),
  },
  'S1.16k': {
    title: '20,000 text deltas, 16 KiB chunks',
    answers: () => [{ text: pieces(20_000, 5) }],
    goals: goals([1.25, 1.5], [1.2, 1.3]),
    chunkBytes: 16_384,
  },
  S2: { title: '200 tool turns', answers: () => toolTurns(200), goals: goals([1, 1.5], [1, 1.5]) },
  S3: { title: '64 parallel calls in one turn', answers: () => fanOut(64), goals: goals([2, 2.5], [1.7, 2.5]), repeat: 10 },
  S4: { title: '100 agents of 10 tool turns at once', answers: () => toolTurns(10), goals: goals([2.5, 3.2], [2.5, 3.2]), agents: 100 },
  S5: {
    title: '2 MB of text in 100,000 deltas',
    answers: () => [{ text: pieces(100_000, 20) }],
    goals: goals([1.3, 1.5], [1.3, 1.5]),
    chunkBytes: 16_384,
  },
}

/** `turns` turns with a tool; all calls have the same id where one is given, as several backends send it. */
export function turnsWithTool(wire: Wire, turns: number, id?: string): Scenario {
  return scenario('turns', wire, { title: `${turns} tool turns`, answers: () => toolTurns(turns, id), goals: goals([1, 1], [1, 1]) })
}

/** All scenarios whose id contains `filter`. */
export function scenarios(filter: string): Scenario[] {
  const wires = ['anthropic', 'openai'] as const
  return Object.entries(shapes).flatMap(([name, shape]) =>
    wires.flatMap((wire) => (`${name}.${wire}`.includes(filter) ? [scenario(`${name}.${wire}`, wire, shape)] : [])),
  )
}

function scenario(id: string, wire: Wire, { title, answers, goals, chunkBytes, agents = 1, repeat = 1 }: Shape): Scenario {
  const list = answers()
  const count = (of: (answer: Answer) => number) => list.reduce((sum, answer) => sum + of(answer), 0)
  return {
    id,
    title,
    wire,
    agents,
    repeat,
    goal: goals[wire],
    responses: list.map((answer) => encodeAnswer(wire, answer, chunkBytes)),
    expected: {
      requests: list.length,
      deltas: count((answer) => answer.text?.length ?? 0),
      calls: count((answer) => answer.calls?.length ?? 0),
    },
  }
}
