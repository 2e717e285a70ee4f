import { vendorOfModel } from '../../providers/kit/vendors.ts'
import type { ModelSection } from './model-sections.ts'
import type { Note } from './normalise.ts'
import type { AgentConfig, CompactionSettings } from './sections.ts'

/** What a configuration says without effect. */
export function adviceOn(config: AgentConfig): Note[] {
  return [...costAdvice(config), ...compactionAdvice(config), ...batchAdvice(config), ...modelAdvice(config)]
}

function noEffect(path: Note['path'], message: string): Note {
  return { code: 'noEffect', path, message }
}

function costAdvice({ execution, provider }: AgentConfig): Note[] {
  const models: (ModelSection | undefined)[] = [provider, ...(provider?.instances ?? [])]
  const isPriced = models.some((each) => each?.catalogue === true || Object.values({ ...each?.cost }).some((rate) => Number(rate) > 0))
  if (execution?.max_cost === undefined || isPriced) return []
  const message =
    'execution.max_cost does nothing: no provider has a cost. Write catalogue = true into [provider], or the rates into [provider.cost].'
  return [noEffect(['execution', 'max_cost'], message)]
}

function compactionAdvice({ compaction, context }: AgentConfig): Note[] {
  const all: (CompactionSettings | undefined)[] = [compaction, context, context?.compaction]
  const instances = [...(compaction?.instances ?? []), ...(context?.compaction?.instances ?? [])]
  if ([...all, ...instances].some((each) => each?.max_context_tokens !== undefined)) return []
  if (compaction === undefined && context === undefined) return []
  const path = compaction === undefined ? 'context' : 'compaction'
  return [noEffect([path], `${path} does nothing: compaction begins with max_context_tokens, which is missing.`)]
}

function batchAdvice({ tools }: AgentConfig): Note[] {
  if (tools?.batch_size === undefined || tools.tool_strategy?.toLowerCase() === 'batched') return []
  return [noEffect(['tools', 'batch_size'], 'tools.batch_size does nothing: it is for tool_strategy = "batched".')]
}

function modelAdvice({ provider }: AgentConfig): Note[] {
  const instances = (provider?.instances ?? []).map((section, at) => [section, ['provider', 'instances', at, 'model']] as const)
  const all: (readonly [ModelSection | undefined, Note['path']])[] = [[provider, ['provider', 'model']], ...instances]
  return all.flatMap(([section, path]) => {
    if (section?.model === undefined || section.model.includes('/')) return []
    const { model, api: said, provider: name, base_url } = section
    if ([said, name, base_url].some((each) => each !== undefined)) return []
    const api = vendorOfModel(model)
    if (api === undefined || api === 'anthropic') return []
    return [
      noEffect(
        path,
        `The model ${JSON.stringify(model.slice(0, 60))} is asked of Anthropic, the default. Did you mean "${api}/${model.slice(0, 60)}"?`,
      ),
    ]
  })
}
