import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type AgentRun,
  type AgentTool,
  defineTool,
  type EventOf,
  type Model,
  type PromptInput,
  type RunResult,
} from '../../src/index.ts'
import { type Script, type ScriptedModel, scripted } from '../../src/providers/scripted/index.ts'

/** An agent on a script, and everything it reported. */
export interface Played {
  agent: Agent
  model: ScriptedModel
  events: AgentEvent[]
  result: RunResult
}

/** Runs one prompt on a scripted model to the end. */
export async function play(script: Script, options: Partial<AgentOptions> = {}, prompt: PromptInput = 'go'): Promise<Played> {
  const model = scripted(script)
  return { ...(await playOn(model, options, prompt)), model }
}

/** As `play`, on any model. */
export async function playOn(
  model: Model,
  options: Partial<AgentOptions> = {},
  prompt: PromptInput = 'go',
): Promise<Omit<Played, 'model'>> {
  const agent = new Agent({ model, retry: fastRetry, ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  const result = await agent.prompt(prompt).result
  return { agent, events, result }
}

/** Retries without waiting. */
export const fastRetry = { maxRetries: 3, initialDelayMs: 0, backoffMultiplier: 1, maxDelayMs: 0 }

/** Adds two numbers. */
export const add: AgentTool = defineTool({
  name: 'add',
  description: 'Adds two numbers',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: (args) => `sum ${Number(args.a) + Number(args.b)}`,
})

/** A tool without parameters that does `execute`. */
export function tool(name: string, execute: AgentTool['execute'], more: Partial<AgentTool> = {}): AgentTool {
  return { name, label: name, description: name, parameters: { type: 'object' }, execute, ...more }
}

/** A promise and the function that resolves it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** The events in short: their types, message events with the role. */
export function outline(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'messageUpdate') return []
    if (event.type === 'messageStart' || event.type === 'messageEnd') return [`${event.type} ${event.message.role}`]
    return [event.type]
  })
}

export function ofType<T extends AgentEvent['type']>(events: readonly AgentEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type)
}

/** Waits for the first event of a type. */
export async function seen(run: AgentRun, type: AgentEvent['type']): Promise<void> {
  for await (const event of run) if (event.type === type) return
}

/** Approves the calls that wait now, or the one of this id. */
export function approveWaiting(run: AgentRun, toolCallId?: string): void {
  for (const pending of run.pendingApprovals()) if (toolCallId === undefined || pending.toolCallId === toolCallId) run.approve(pending)
}

/** Subscribes; what `listener` throws, which no run is disturbed by, is thrown by the returned function. */
export function listening(run: AgentRun, listener: (event: AgentEvent) => void): () => void {
  const faults: unknown[] = []
  run.subscribe((event) => {
    try {
      listener(event)
    } catch (error) {
      faults.push(error)
    }
  })
  return () => {
    if (faults.length > 0) throw faults[0]
  }
}
