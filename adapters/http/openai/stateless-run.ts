import type { ClientSettings } from '../../../src/client/index.ts'
import type { Agent, AgentRun, AgentTool } from '../../../src/index.ts'
import { serverSchema } from '../../../src/internal.ts'
import type { CallerRequest, CallerTool } from '../../../src/ui/openai/index.ts'
import { answerForCaller } from './caller-request.ts'
import { refuseCaller } from './openai-error.ts'

/** A run whose conversation came with the request. */
export interface StatelessRun {
  run: AgentRun
  callerTools: ReadonlySet<string>
  given: ReadonlySet<string>
}

/** What a server lets callers say besides. */
export interface CallerRights {
  settings: ClientSettings
  /** Whether they may bring tools of their own. */
  callerTools: boolean
}

/**
 * Begins a run of an agent that is made for one request, with the whole conversation as its input: filters of the agent look at all that users say in it.
 *
 * **Contract**
 * - Where the model calls tools of the caller, the run ends there, and the caller has the calls. Nothing of the agent's own is run because a caller says that it was
 *   called: such a call is refused.
 * - `signal` is that of the request: a client that goes away stops the run.
 */
export function statelessRun(made: Agent, request: CallerRequest, rights: CallerRights, signal: AbortSignal): StatelessRun {
  const own = ownNames(made)
  refuseOwnNames(request, own)
  if (request.tools.length > 0 && !rights.callerTools) {
    refuseCaller({
      message: "Unsupported parameter: 'tools'. This agent takes no tools of callers.",
      param: 'tools',
      code: 'unsupported_parameter',
    })
  }
  if (request.responseFormat !== undefined && made.settings.responseFormat !== undefined) {
    refuseCaller({ message: 'This agent has a form of its own for its answers.', param: 'response_format', code: 'unsupported_parameter' })
  }
  const tools = [...(made.settings.tools ?? []), ...request.tools.map(asAgentTool)]
  const agent = made.with({ tools, ...withInstructions(made, request.instructions) })
  const { responseFormat, messages } = request
  const run = agent.prompt(messages, { ...rights.settings, ...(responseFormat !== undefined && { responseFormat }), signal })
  const callerTools = new Set(request.tools.map(({ name }) => name))
  const isOfCaller = ({ toolName, subAgent }: { toolName: string; subAgent?: object }) =>
    subAgent === undefined && callerTools.has(toolName)
  run.subscribe((event) => {
    // The next request brings the result: this run has nobody to wait for.
    if (event.type === 'approvalRequested' && isOfCaller(event)) agent.stopAsking()
  })
  answerForCaller(run, { canApprove: false, isOfCaller })
  return { run, callerTools, given: new Set(messages.map(({ id }) => id)) }
}

/** The names that no caller may take. */
function ownNames({ settings: { tools = [] } }: Agent): ReadonlySet<string> {
  return new Set(tools.flatMap(({ name, companions = [] }) => [name, ...companions.map((companion) => companion.name)]))
}

/** A caller that could name them would say what the agent's own tools have found, or take their place. */
function refuseOwnNames({ tools, messages }: CallerRequest, own: ReadonlySet<string>): void {
  const taken = tools.find(({ name }) => own.has(name))
  if (taken !== undefined) refuseCaller({ message: `A tool of the agent is called "${taken.name}". Name yours otherwise.`, param: 'tools' })
  const calls = messages.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
  const forged = calls.find((block) => block.type === 'toolCall' && own.has(block.name))
  if (forged?.type !== 'toolCall') return
  refuseCaller({ message: `"${forged.name}" is a tool of the agent, which runs inside. Leave its calls and results out.` })
}

function asAgentTool({ name, description, parameters }: CallerTool): AgentTool {
  const schema = serverSchema(parameters)
  if (schema === undefined) refuseCaller({ message: `The parameters of "${name}" are too large, or nested too deep.`, param: 'tools' })
  const { unchecked: _, ...described } = schema
  return {
    ...{ name, label: name, description, ...described },
    // It waits until the run has ended: only the caller can run it.
    needsApproval: true,
    execute: () => Promise.reject(new Error('The caller runs this tool.')),
  }
}

function withInstructions({ settings: { systemPrompt } }: Agent, instructions: string): Partial<Agent['settings']> {
  if (instructions === '') return {}
  const joined = (prompt: string): string => (prompt === '' ? instructions : `${prompt}\n\n${instructions}`)
  return {
    systemPrompt: typeof systemPrompt === 'function' ? async (turn) => joined(await systemPrompt(turn)) : joined(systemPrompt ?? ''),
  }
}
