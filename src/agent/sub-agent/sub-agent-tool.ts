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

/** Settings that a sub-agent passes to its loop unchanged. */
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

/** A task's default limits. */
export const defaultTaskLimits = { maxTurns: 10, maxTotalTokens: defaultLimits.maxTotalTokens, maxDurationMs: 300_000 } as const

/** Defaults of background tasks. */
export const defaultBackground: Required<BackgroundOptions> = { onRunEnd: 'wait', maxRunning: 4 }

/** Options for background tasks. Source: docs/concepts/several-agents.md */
export interface BackgroundOptions {
  /** Whether an otherwise finished run waits for the task and responds to its report, or stops the task. Default: `wait`. */
  onRunEnd?: OnRunEnd
  /** Maximum concurrent tasks of this sub-agent per run. Further calls get an error. Default: 4. */
  maxRunning?: number
}

/**
 * Options for a sub-agent. `hooks`, `inputFilters`, `approvalTimeoutMs`, `requireMedia` and `resolveMedia` default to those of the calling
 * run. The calling run's tree-wide plugins run before the sub-agent's plugins. Source: docs/concepts/several-agents.md
 */
export interface SubAgentOptions
  extends ChildSettings,
    RequestSettings,
    Partial<Pick<ExecutionLimits, 'maxTurns' | 'maxTotalTokens' | 'maxDurationMs'>> {
  /** Tool name: `[a-zA-Z0-9_-]{1,64}`. */
  name: string
  /** Display name. Default: `name`. */
  label?: string
  /** Description for the parent's model: what this agent is good at. */
  description: string
  /** Default: none. */
  systemPrompt?: string
  /** Skills to list after the sub-agent's system prompt. Add a tool that can read skill files. Default: none. */
  skills?: SkillSet
  /** The sub-agent's tools. Other sub-agents are not allowed. Default: none. */
  tools?: readonly AgentTool[]
  /** Maximum model calls per task. Default: 10. */
  maxTurns?: number
  /** Maximum input plus output tokens per task. Default: 1,000,000. */
  maxTotalTokens?: number
  /** Maximum milliseconds per task, checked before each turn. Default: 300,000. */
  maxDurationMs?: number
  /** Default: `off`. */
  thinking?: LoopConfig['thinking']
  /** Timeout of a task in milliseconds. Default: the parent's `toolTimeoutMs`. */
  timeoutMs?: number
  /** Requires an approval before a task starts. */
  needsApproval?: NonNullable<AgentTool['needsApproval']>
  /** Store that records each task in a separate session with a reference to the tool call. Default: not stored. */
  session?: SessionStore
  /**
   * Runs tasks in the background: the call returns immediately, and a later message contains the report. `true` uses the defaults of
   * `BackgroundOptions`. Default: the call waits for the task.
   */
  background?: boolean | BackgroundOptions
  /**
   * `updates` sends partial results and status lines. `events` also forwards every sub-agent event as a `childEvent`. Default: `updates`.
   */
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
    task: { type: 'string', description: 'The complete task. The sub-agent cannot see this conversation, so include everything it needs.' },
  },
  required: ['task'],
}

/**
 * An agent that another agent calls as a tool. The sub-agent works on the task with a separate model, prompt and tools, and returns its
 * last text.
 *
 * **Contract**
 * - Each call is a separate conversation, without the parent's history, memory of earlier calls, or compaction. Calls may run concurrently.
 * - The sub-agent's loop runs in a session such as `{session}.sub.1`. `parentLoopId` is the caller's loop, and the result's `childLoopId`
 *   is the sub-agent's loop.
 * - The sub-agent's usage is charged to the calling run's budget. The sub-agent's limits apply too.
 * - The calling run's hooks and input filters apply unless the sub-agent sets its own. The calling run's approval rules apply to tools of
 *   the same name that have no rule. The calling run emits the sub-agent's approval requests.
 * - The result is an error if the sub-agent fails, is stopped, has an undecided call, or reaches a limit before producing text. `details`
 *   are `{ subAgent, turns, status, usage }`. `turns` counts messages. `usage` covers only the sub-agent's model calls.
 * - A task that times out or is stopped with the run still returns an outcome, `details` and `childLoopId`.
 * - With `background`, the call returns an id and the task continues under the same rules. See {@link BackgroundOptions}.
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
  /** Background options. `undefined` if the call waits for the task. */
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
    // Copy the list, so that sub-agents added later cannot bypass the check for nested sub-agents.
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

  /** Runs `args.task`. Rejects with `ToolError` `invalidArguments` without a task. */
  async execute(args: JsonObject, ctx: ToolContext): Promise<ToolResult> {
    const { task } = args
    if (typeof task !== 'string' || task.trim() === '') throw new ToolError('invalidArguments', "Missing required 'task' parameter")
    if (this.#background === undefined || ctx.background === undefined) return this.#work(task, ctx)
    const steering = new RunQueue(new MessageQueue(), 'all')
    return (await ctx.background()).start({
      ...this.#background,
      task,
      steer: (prompt) => steering.add([withId(userMessage(prompt))]).status !== 'returned',
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
    // All records are durable by then, so a failed release has no consequences.
    await journal?.close().catch(() => undefined)
    return withUnheard(subAgentResult(this.name, result), steering?.returned ?? [])
  }
}

/** Plugins of the caller come first: a plugin of the same name must not replace one that covers the tree. */
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
    throw new ConfigError('invalidTool', `Invalid sub-agent name ${JSON.stringify(name)}: use 1 to 64 letters, digits, "_" or "-".`)
  }
  const nested = tools.find(isSubAgentTool)
  if (nested === undefined) return
  throw new ConfigError(
    'nestedSubAgent',
    `Sub-agent "${name}" cannot have sub-agent "${nested.name}" as a tool: nested sub-agents could recurse forever. Give both to the parent.`,
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

/** Marks a tool as a sub-agent. Enumerable, so that spread copies keep the mark. */
function markAsSubAgent(tool: object): void {
  Object.defineProperty(tool, brand, { value: true, enumerable: true })
}

/** Returns whether a tool is a sub-agent. Recognizes sub-agents from another copy of this package. */
export function isSubAgentTool(tool: object): boolean {
  return brand in tool
}
