import { bareUrl } from '../base/text/secrets.ts'
import { ownOf, setOwnField } from '../contract/json.ts'
import { toRecord } from '../contract/model/request-settings.ts'
import type { LoopConfigSnapshot } from '../contract/run/run-facts.ts'
import { outputFormOf } from '../validation/response-format.ts'
import type { AgentContext, LoopConfig } from './loop-config.ts'

/** Returns the configuration segment of a loop id: `configId`, or `{provider}.{model}[.{thinking}]` with a slugged model. */
function configSegment(config: LoopConfig): string {
  if (config.configId !== undefined) return config.configId
  const { provider, id } = config.model.config
  const thinking = config.thinking ?? config.model.config.settings?.thinking ?? 'off'
  const base = `${provider}.${id.replace(/[^a-zA-Z0-9-]/g, '-')}`
  return thinking === 'off' ? base : `${base}.${thinking}`
}

/**
 * Returns the next loop id of a session, `{session}.{segment}.{N}`, counted per segment in `context.loopCounts`. Contexts that share this
 * object, such as branches, never get the same id.
 */
export function nextLoopId(context: AgentContext, sessionId: string, config: LoopConfig): string {
  const segment = configSegment(config)
  const count = countOf(context.loopCounts, segment) + 1
  context.loopCounts = raiseCounts(context.loopCounts, { [segment]: count })
  return `${sessionId}.${segment}.${count}`
}

/** Raises `counts` to the maximum of both and returns the same object, because other contexts may share it. */
export function raiseCounts(
  counts: Record<string, number> | undefined = {},
  others: Readonly<Record<string, number>>,
): Record<string, number> {
  for (const segment of Object.keys(others)) {
    setOwnField(counts, segment, Math.max(countOf(counts, segment), countOf(others, segment)))
  }
  return counts
}

/** Returns whether `counts` includes the loop with this id. */
export function isCounted(loopId: string, sessionId: string, counts: Readonly<Record<string, number>>): boolean {
  const end = loopId.lastIndexOf('.')
  return countOf(counts, loopId.slice(sessionId.length + 1, end)) >= Number(loopId.slice(end + 1))
}

function countOf(counts: Readonly<Record<string, number>> = {}, segment: string): number {
  return ownOf(counts, segment) ?? 0
}

/** Returns the configuration summary for `agentStart`: all identifying fields, without secrets. */
export function configSnapshot(config: LoopConfig): LoopConfigSnapshot {
  const model = config.model.config
  const snapshot: LoopConfigSnapshot = {
    model: model.id,
    provider: model.provider,
    name: model.name,
    api: model.api,
    baseUrl: bareUrl(model.baseUrl),
    reasoning: model.reasoning,
    contextWindow: model.contextWindow,
    maxTokens: config.maxTokens ?? model.maxTokens,
    thinkingLevel: config.thinking ?? model.settings?.thinking ?? 'off',
  }
  if (config.configId !== undefined) snapshot.configId = config.configId
  if (config.temperature !== undefined) snapshot.temperature = config.temperature
  const settings = toRecord(config)
  if (settings !== undefined) snapshot.settings = settings
  const output = config.responseFormat && outputFormOf(config.responseFormat)
  if (output !== undefined) snapshot.output = output
  return snapshot
}
