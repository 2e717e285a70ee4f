import { ConfigError, ToolError } from '../../contract/errors.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { definedFields } from '../../contract/json.ts'
import { newId } from '../../contract/message/identity.ts'
import { userMessage, withId } from '../../contract/message/message.ts'
import { type RequestSettings, settingFields } from '../../contract/model/request-settings.ts'
import { defaultLimits, type ExecutionLimits, limitFields, type OnRunEnd, onRunEnd } from '../../contract/run/settings.ts'
import type { SpawnRef } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  aPositiveNumber,
  aText,
  either,
  oneOf,
  options as optionsOf,
  required,
  wholeFrom,
} from '../../contract/shape/shape.ts'
import { isToolName, type ToolResult } from '../../contract/tool/tool-result.ts'
import { agentLoop } from '../../loop/agent-loop.ts'
import { checkPluginNames, checkToolNames } from '../../loop/check-config.ts'
import type { AgentContext, LoopConfig } from '../../loop/loop-config.ts'
import type { SessionStore } from '../../types/session/session-store.ts'
import { type SkillSet, withSkills } from '../../types/tool/skills.ts'
import type { AgentTool, ToolContext } from '../../types/tool/tool.ts'
import { agentTable } from '../agent-options.ts'
import { MessageQueue, RunQueue } from '../message-queue.ts'
import { backgroundTools } from './background-tools.ts'
import { ChildReports, subAgentResult, withUnheard } from './sub-agent-reports.ts'

/** What of a loop's configuration a sub-agent passes on unchanged. */
type ChildSettings = Pick<
  LoopConfig,
  | 'model'
  | 'cache'
  | 'toolExecution'
  | 'toolTimeoutMs'
  | 'retry'
  | 'schemaValidator'
  | 'logger'
  | 'hooks'
  | 'inputFilters'
  | 'plugins'
  | 'approvalTimeoutMs'
  | 'requireMedia'
  | 'resolveMedia'
>

/** What stops a task where nothing else is said. */
export const defaultTaskLimits = { maxTurns: 10, maxTotalTokens: defaultLimits.maxTotalTokens, maxDurationMs: 300_000 } as const

/** How tasks in the background go on where nothing else is said. */
export const defaultBackground: Required<BackgroundOptions> = { onRunEnd: 'wait', maxRunning: 4 }

/** How a sub-agent works in the background. Source: docs/concepts/several-agents.md */
export interface BackgroundOptions {
  /** Once the run has nothing else to do: it waits for the task and answers its report, or stops it. Default `wait`. */
  onRunEnd?: OnRunEnd
  /** Tasks of this sub-agent that may go on at a time in one run; a call over it gets an error. Default 4. */
  maxRunning?: number
}

/** How a sub-agent is set up. `hooks`, `inputFilters`, `approvalTimeoutMs`, `requireMedia` and `resolveMedia` default to those of the run that calls it; the plugins of that run that cover the tree come before its own. Source: docs/concepts/several-agents.md */
export interface SubAgentOptions
  extends ChildSettings,
    RequestSettings,
    Partial<Pick<ExecutionLimits, 'maxTurns' | 'maxTotalTokens' | 'maxDurationMs'>> {
  /** What the parent's model calls: `[a-zA-Z0-9_-]{1,64}`. */
  name: string
  /** For people. Default: `name`. */
  label?: string
  /** For the parent's model: what this agent is good at. */
  description: string
  /** Default: none. */
  systemPrompt?: string
  /** What it can read how to do; their index stands after its system prompt. Give it a tool that reads them. Default: none. */
  skills?: SkillSet
  /** Tools of the sub-agent; no sub-agents among them. Default: none. */
  tools?: readonly AgentTool[]
  /** Model calls per task. Default 10. */
  maxTurns?: number
  /** Input plus output tokens per task. Default 1,000,000. */
  maxTotalTokens?: number
  /** Milliseconds per task, checked before each of its turns. Default 300,000. */
  maxDurationMs?: number
  /** Default `off`. */
  thinking?: LoopConfig['thinking']
  /** Milliseconds after which a task is cut off; overrides the parent's `toolTimeoutMs`. */
  timeoutMs?: number
  /** Ask a person before a task begins. */
  needsApproval?: NonNullable<AgentTool['needsApproval']>
  /** Records every task in a session of its own there, which names the call that began it. Default: nothing is stored. */
  session?: SessionStore
  /**
   * A call answers at once, and the task goes on beside the run; its report comes as a message of its own. `true`: with the defaults of
   * `BackgroundOptions`. Default: the call waits for the task.
   */
  background?: boolean | BackgroundOptions
  /** `updates`: partial results and status lines of the call. `events`: also every event of the child, as a `childEvent`. Default `updates`. */
  forward?: 'updates' | 'events'
}

const { model, cache, toolExecution, toolTimeoutMs, approvalTimeoutMs, retry } = agentTable
const { hooks, inputFilters, plugins, requireMedia, resolveMedia, schemaValidator, logger } = agentTable
const { maxTurns, maxTotalTokens, maxDurationMs } = limitFields
const subAgentOptions = optionsOf<SubAgentOptions>({
  ...settingFields,
  ...{ model, cache, toolExecution, toolTimeoutMs, approvalTimeoutMs, retry },
  ...{ hooks, inputFilters, plugins, requireMedia, resolveMedia, schemaValidator, logger },
  ...{ maxTurns, maxTotalTokens, maxDurationMs },
  name: required(aText),
  label: aText,
  description: required(aText),
  systemPrompt: aText,
  skills: agentTable.skills,
  tools: agentTable.tools,
  thinking: agentTable.thinking,
  timeoutMs: aPositiveNumber,
  needsApproval: either(aFlag, aFunction),
  session: agentTable.session,
  background: either(aFlag, optionsOf<BackgroundOptions>({ onRunEnd, maxRunning: wholeFrom(1) })),
  forward: oneOf('updates', 'events'),
})

const parameters: JsonSchema = {
  type: 'object',
  properties: {
    task: { type: 'string', description: 'The task, complete in itself: the sub-agent sees nothing of this conversation.' },
  },
  required: ['task'],
}

/**
 * An agent that another agent calls like a tool: it gets a task, works on it with its own model, prompt and tools, and gives back what it
 * said last.
 *
 * **Contract**
 * - Each call is a conversation of its own: nothing of the parent's is seen, nothing of an earlier call is kept, and nothing is compacted.
 *   Calls may run at the same time.
 * - The loop has a session of its own, the id `{session}.sub.1`, the caller's loop as `parentLoopId`, and is named in the result as `childLoopId`.
 * - What it uses is charged to the budget of the run that called it; its own limits hold beside that budget.
 * - The guards of that run watch over it: hooks and input filters, unless it has its own, and the approval rules of tools of the same
 *   name that have none of their own here. If a call of the sub-agent needs approval, the run that called the sub-agent asks.
 * - The result is an error when the sub-agent fails, is stopped, or has a call that nobody answered; also when it reaches a limit without
 *   having said anything. `details` say `{ subAgent, turns, status, usage }`, `turns` counting messages, `usage` what its own calls used.
 * - A task that is cut off, by its timeout or with the run, still reports its end, its `details` and `childLoopId`.
 * - With `background` the call answers with an id, and the task goes on beside the run; see {@link BackgroundOptions}. All else holds as well.
 * - The constructor throws `ConfigError`: `nestedSubAgent` for a sub-agent among its tools, `invalidTool`, `invalidOption`.
 *
 * Source: docs/concepts/several-agents.md
 *
 * @example
 * const researcher = new SubAgentTool({ name: 'researcher', description: 'Reads files and reports.', model, tools: [readFile] })
 * const agent = new Agent({ model, tools: [researcher] })
 */
export class SubAgentTool implements AgentTool {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly parameters = parameters
  readonly endsOnAbort = true
  /** Goes on beside the run. */
  declare readonly isBackground?: true
  declare readonly companions?: readonly AgentTool[]
  declare readonly timeoutMs?: number
  declare readonly needsApproval?: NonNullable<AgentTool['needsApproval']>
  readonly #config: LoopConfig
  readonly #systemPrompt: string
  readonly #tools: readonly AgentTool[]
  readonly #passEvents: boolean
  readonly #session: SessionStore | undefined
  readonly #background: Required<BackgroundOptions> | undefined

  constructor(options: SubAgentOptions) {
    checkOptions(options, subAgentOptions)
    const {
      name,
      label = name,
      description,
      systemPrompt = '',
      skills,
      tools = [],
      forward,
      session,
      background = false,
      timeoutMs,
      needsApproval,
      ...settings
    } = options
    checkSubAgent(name, tools)
    checkToolNames(tools)
    checkPluginNames(settings.plugins)
    this.name = name
    this.label = label
    this.description = description
    if (timeoutMs !== undefined) this.timeoutMs = timeoutMs
    if (needsApproval !== undefined) this.needsApproval = needsApproval
    this.#config = childConfig(settings)
    // A copy: a sub-agent that is put into the list later is not taken along.
    this.#tools = [...tools]
    this.#systemPrompt = withSkills(systemPrompt, skills)
    this.#passEvents = forward === 'events'
    this.#session = session
    if (background !== false) {
      this.#background = { ...defaultBackground, ...(background === true ? {} : background) }
      this.isBackground = true
      this.companions = backgroundTools
    }
    markAsSubAgent(this)
  }

  /** Works on `args.task`. Rejects with `ToolError` `invalidArguments` where there is none. */
  async execute(args: JsonObject, ctx: ToolContext): Promise<ToolResult> {
    const { task } = args
    if (typeof task !== 'string' || task.trim() === '') throw new ToolError('invalidArguments', "Missing required 'task' parameter")
    if (this.#background === undefined || ctx.background === undefined) return this.#work(task, ctx)
    const steering = new RunQueue(new MessageQueue(), 'all')
    return (await ctx.background()).start({
      ...this.#background,
      task,
      steer: (said) => steering.add([withId(userMessage(said))]).status !== 'returned',
      work: (own) => this.#work(task, own, steering),
    })
  }

  async #work(task: string, ctx: ToolContext, steering?: RunQueue): Promise<ToolResult> {
    const sessionId = newId()
    const context: AgentContext = {
      systemPrompt: this.#systemPrompt,
      messages: [],
      tools: this.#tools,
      sessionId,
      loopId: `${sessionId}.sub.1`,
      parentLoopId: ctx.loopId,
    }
    const reports = new ChildReports(ctx, this.#passEvents, steering !== undefined)
    const journal = this.#session?.journal({ spawnRef: spawnRefOf(ctx) })
    const { guards, signal, budget } = ctx
    const config: LoopConfig = {
      ...guards?.config,
      ...this.#config,
      ...pluginsOf(guards?.config.plugins, this.#config.plugins),
      ...(journal !== undefined && { journal }),
      ...(steering && { steering }),
    }
    const result = await agentLoop(task, context, config, {
      ...guards?.options,
      emit: reports.accept,
      signal,
      budget,
      agentName: this.name,
    })
    reports.flush()
    // What is durable is durable: that the right to write could not be given back costs nobody anything.
    await journal?.close().catch(() => undefined)
    return withUnheard(subAgentResult(this.name, result), steering?.returned ?? [])
  }
}

/** Those of the caller first: what covers the tree is not taken out by another plugin of the same name. */
function pluginsOf(above: LoopConfig['plugins'] = [], own: LoopConfig['plugins'] = []): Pick<LoopConfig, 'plugins'> {
  const names = new Set(above.map(({ name }) => name))
  const all = [...above, ...own.filter(({ name }) => !names.has(name))]
  return all.length === 0 ? {} : { plugins: all }
}

function spawnRefOf({ sessionId, loopId, toolCallId, toolName }: ToolContext): SpawnRef {
  return { parentSessionId: sessionId, parentLoopId: loopId, toolCallId, toolName }
}

function checkSubAgent(name: string, tools: readonly AgentTool[]): void {
  if (!isToolName(name)) {
    throw new ConfigError('invalidTool', `Sub-agent name ${JSON.stringify(name)}: use 1 to 64 letters, digits, "_" or "-".`)
  }
  const nested = tools.find(isSubAgentTool)
  if (nested === undefined) return
  throw new ConfigError(
    'nestedSubAgent',
    `Sub-agent "${name}" may not have the sub-agent "${nested.name}" as a tool: chains of agents need not end. Give both to the parent.`,
  )
}

function childConfig(
  settings: ChildSettings & Pick<SubAgentOptions, 'thinking' | 'maxTurns' | 'maxTotalTokens' | 'maxDurationMs'>,
): LoopConfig {
  const { thinking = 'off', maxTurns, maxTotalTokens, maxDurationMs, ...rest } = settings
  return {
    ...rest,
    thinking,
    limits: { ...defaultTaskLimits, ...definedFields({ maxTurns, maxTotalTokens, maxDurationMs }) },
    contextConfig: false,
    firstTurnTrigger: 'subAgent',
  }
}

const brand = Symbol.for('phi-core.subAgent')

/** Marks a tool as a sub-agent. Enumerable: a copy made by spreading is still one. */
function markAsSubAgent(tool: object): void {
  Object.defineProperty(tool, brand, { value: true, enumerable: true })
}

/** Whether a tool is a sub-agent, also one made by another copy of this package. */
export function isSubAgentTool(tool: object): boolean {
  return brand in tool
}
