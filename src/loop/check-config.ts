import { aBudget, aJournal, aLogger, aModel, aSkillSet, aWorkspace } from '../base/argument-checks.ts'
import { checkContextConfig } from '../context/tokens/context-limits.ts'
import { contextOptions, off } from '../context/tokens/context-options.ts'
import { ConfigError } from '../contract/errors.ts'
import { fieldIn, isObject } from '../contract/json.ts'
import { cacheStrategy } from '../contract/model/request.ts'
import { responseFormatInput, settingFields, thinkingLevel } from '../contract/model/request-settings.ts'
import { hasRates } from '../contract/model/usage.ts'
import { turnTrigger } from '../contract/run/run-facts.ts'
import {
  type ExecutionLimits,
  limitFields,
  type RetryConfig,
  retryFields,
  type SharedLimits,
  toolExecution,
} from '../contract/run/settings.ts'
import { foreignTool, foreignTools } from '../contract/shape/foreign-names.ts'
import { checkOptions } from '../contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  anObject,
  anything,
  aPositiveNumber,
  aSchema,
  aSignal,
  aText,
  closed,
  either,
  json,
  kind,
  listOf,
  type OptionTable,
  oneOf,
  options,
  recordOf,
  required,
  type Shape,
  wholeFrom,
  withInstead,
  withMethods,
} from '../contract/shape/shape.ts'
import { toolName } from '../contract/tool/tool-result.ts'
import type { Model } from '../types/model/model.ts'
import type { Budget } from '../types/run/budget.ts'
import type { LoopHooks } from '../types/run/turn.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import type { OffloadOptions } from '../types/tool/workspace.ts'
import type { AgentContext, LoopConfig, LoopOptions } from './loop-config.ts'

const aSupplier = withMethods('a supplier of messages', 'waiting', 'take')

/** A tool's validation shape, as created by `defineTool`. */
export const aTool: Shape = {
  ...options(
    {
      name: required(toolName),
      description: required(aText),
      parameters: required(aSchema),
      execute: required(aFunction),
      idempotent: aFlag,
      timeoutMs: aPositiveNumber,
      isOffered: oneOf('always', 'whenFound'),
      searches: listOf(aText),
    },
    true,
  ),
  expected: 'a tool from defineTool',
  instead: foreignTool,
}

/** Validation shape of an agent's tool list. */
export const toolList: Shape = withInstead(listOf(aTool), foreignTools)

/** Throws `ConfigError` `invalidTool` for duplicate tool names. */
export function checkToolNames(tools: readonly AgentTool[]): void {
  // Tools may share companions, and the list may contain a companion explicitly.
  const companions = new Set(tools.flatMap((tool) => tool.companions ?? []).filter((tool) => !tools.includes(tool)))
  const twice = twiceNamed([...tools, ...companions])
  if (twice !== undefined) throw new ConfigError('invalidTool', `Two tools are named "${twice}". Give each tool a unique name.`)
}

function twiceNamed(list: readonly { name: string }[]): string | undefined {
  const seen = new Set<string>()
  return list.find(({ name }) => seen.size === seen.add(name).size)?.name
}

/** Throws `ConfigError` `invalidOption` for duplicate plugin names, because plugins with the same name would share notes. */
export function checkPluginNames(plugins: LoopConfig['plugins'] = []): void {
  const twice = twiceNamed(plugins)
  if (twice !== undefined) throw new ConfigError('invalidOption', `Two plugins are named "${twice}". Give each plugin a unique name.`)
}

const { maxTurns: _ofOneLoop, maxSameRefusals: _asWell, ...shared } = limitFields
/** Validation shape of the limits that several loops share. */
export const sharedLimits: Shape = options<SharedLimits>(shared)

const hookTable: OptionTable<LoopHooks> = {
  beforeLoop: aFunction,
  afterLoop: aFunction,
  beforeTurn: aFunction,
  afterTurn: aFunction,
  onError: aFunction,
  repairToolCall: aFunction,
  beforeToolExecution: aFunction,
  prepareTurn: aFunction,
  afterAnswer: aFunction,
  beforeToolExecutionEnd: aFunction,
  afterToolExecution: aFunction,
  beforeToolExecutionUpdate: aFunction,
  afterToolExecutionUpdate: aFunction,
  beforeCompactionStart: aFunction,
  afterCompactionEnd: aFunction,
}

const withStandard = kind('a Standard Schema, such as one of zod', (value) => isObject(fieldIn(value, '~standard')))

/** Settings shared by loops and agents. */
export const settingTable = {
  model: required(aModel),
  thinking: thinkingLevel,
  configId: aText,
  ...settingFields,
  cache: either(oneOf('auto', 'disabled'), closed(cacheStrategy)),
  responseFormat: responseFormatInput,
  repair: wholeFrom(0),
  resolveMedia: aFunction,
  toolExecution: either(oneOf('parallel', 'sequential'), closed(toolExecution)),
  offload: options<OffloadOptions>({ over: required(aPositiveNumber), workspace: required(aWorkspace), except: listOf(aText) }),
  toolTimeoutMs: aPositiveNumber,
  limits: either(off, options<ExecutionLimits>(limitFields)),
  retry: either(off, options<RetryConfig>(retryFields)),
  approvalTimeoutMs: aPositiveNumber,
  hooks: options(hookTable),
  inputFilters: listOf(aFunction),
  plugins: listOf(withMethods('a plugin from definePlugin', 'join', 'begin')),
  data: recordOf(withStandard),
  stopWhen: either(aFunction, listOf(aFunction)),
  contextConfig: either(off, contextOptions),
  captureTurnRequests: either(aFlag, options<{ httpBody: boolean }>({ httpBody: required(aFlag) })),
  transformContext: aFunction,
  convertToLlm: aFunction,
  contextTranslation: aFunction,
  journal: aJournal,
  logger: aLogger,
  observers: listOf(withMethods('an observer', 'watch')),
  schemaValidator: withMethods('a schema validator', 'compile'),
}

const configTable: OptionTable<LoopConfig> = {
  ...settingTable,
  systemPrompt: aFunction,
  skills: aSkillSet,
  checkAnswer: aFunction,
  firstTurnTrigger: turnTrigger,
  steering: aSupplier,
  followUps: aSupplier,
}

const loopOptionTable: OptionTable<LoopOptions> = {
  emit: required(aFunction),
  signal: required(aSignal),
  runId: aText,
  metadata: json,
  budget: aBudget,
  approvals: anObject,
  clientCalls: anObject,
  inputs: anObject,
  sharedState: withMethods('shared state of an agent', 'subscribe', 'ofCall'),
  runningTools: anObject,
  approvalRule: aFunction,
  agentName: aText,
  context: anything,
}

/** Fields of a context that callers set. The loop maintains the others. */
const contextOptionTable: OptionTable<Pick<AgentContext, 'systemPrompt' | 'messages' | 'tools' | 'agentId' | 'sessionId'>> = {
  systemPrompt: required(aText),
  messages: required(listOf(anObject)),
  tools: required(toolList),
  agentId: aText,
  sessionId: aText,
}

/**
 * Throws `ConfigError` `invalidOption` for an invalid configuration: a wrong type, an unknown option, or a limit without effect. `NaN` is
 * always invalid, because every comparison with it is false. `name` is the location of the configuration.
 */
export function checkConfig(config: LoopConfig, name?: string): void {
  checkOptions(config, loopConfig, name)
  checkPluginNames(config.plugins)
  checkCostLimit(config.limits, config.model)
  checkContextConfig(config.contextConfig, config.model.config)
}

/**
 * Throws `ConfigError` `invalidOption` for a cost limit that can never be reached, set by the loop or a parent budget. Rates that are all
 * zero mean unknown prices.
 */
export function checkCostLimit(limits: LoopConfig['limits'], { config, alternatives = [] }: Model, budget?: Budget): void {
  const own = limits ? limits.maxCost : undefined
  const unpriced = [config, ...alternatives].find((each) => !hasRates(each))
  if (unpriced === undefined || (own === undefined && budget?.limitsCost !== true)) return
  throw new ConfigError(
    'invalidOption',
    `${own === undefined ? 'budget limits the cost' : `limits.maxCost is ${own}`}, but the model ${JSON.stringify(unpriced.id)} has no prices. Pass catalogue of phi-core/models, or cost, to its factory; or no maxCost.`,
  )
}

/** {@link checkConfig} for a loop's context. */
export function checkContext(context: AgentContext): void {
  checkOptions(context, loopContext, 'context')
}

/** {@link checkConfig} for all arguments of a loop. */
export function checkLoop(context: AgentContext, config: LoopConfig, given: LoopOptions): void {
  checkContext(context)
  checkConfig(config)
  checkOptions(given, loopOptions)
}

const loopConfig = options<LoopConfig>(configTable)
const loopOptions = options<LoopOptions>(loopOptionTable)
const loopContext = options(contextOptionTable, true)
