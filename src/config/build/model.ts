import { aModel } from '../../base/argument-checks.ts'
import { ConfigError } from '../../contract/errors.ts'
import { ownOf } from '../../contract/json.ts'
import type { KnownApi } from '../../contract/model/model-config.ts'
import { type CostConfig, hasRates, type TokenRates } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { catalogue } from '../../models/catalogue.ts'
import { fallback } from '../../providers/compose/fallback.ts'
import { limited } from '../../providers/compose/limited.ts'
import { limiter, type Priority } from '../../providers/compose/limiter.ts'
import { checkVendor } from '../../providers/kit/vendors.ts'
import { protocolOf } from '../../providers/model-name.ts'
import type { Model } from '../../types/model/model.ts'
import { fieldError, fieldOf, invalidField, type Path } from '../config-error.ts'
import { parseReference, resolveName } from '../references.ts'
import { modelsIn } from '../schema/find.ts'
import { type Key, optionName, optionsOf } from '../schema/key-table.ts'
import {
  type CostSection,
  compatKeys,
  costKeys,
  costTierKeys,
  limiterKeys,
  type ModelSection,
  modelKeys,
  protocolWords,
} from '../schema/model-sections.ts'
import type { AgentConfig } from '../schema/sections.ts'
import { type Build, shared } from './build.ts'
import { type AskedModel, checkKeyHost, type FactoryOptions, factories, servedSection } from './service.ts'

/** A field that selects a model. `model` overrides the model of the provider section. */
export interface ModelWish {
  provider?: string | undefined
  model?: string | undefined
  /** Priority in the section's limiter. */
  priority: Priority
  /** Path of the `provider` field. */
  path: Path
}

/** Creates the model for an agent or sub-agent: `[provider]`, or the section that its `provider` refers to. */
export async function modelFor(build: Build, { provider, model, priority, path }: ModelWish): Promise<Model> {
  const found = sectionOrModel(build, provider, model, path)
  if (!('section' in found)) return found
  const { section, at, key } = found
  const asked = model === undefined ? undefined : { model, path: [...path.slice(0, -1), 'model'] }
  const make = () => withFallbacks(build, asked === undefined ? section : withModel(section, asked), at, priority)
  return key === undefined ? make() : shared(build.made, `model ${key} ${priority} ${model ?? ''}`, make)
}

/** Creates the model of a section, including the fallbacks that it lists. */
async function withFallbacks(build: Build, { fallback: names = [], ...own }: AskedSection, at: Path, priority: Priority): Promise<Model> {
  const first = await withLimiter(build, own, at, priority)
  if (names.length === 0) return first
  const others = names.map((name, index) => {
    const found = sectionOrModel(build, name, undefined, [...at, 'fallback', index])
    if (!('section' in found)) return found
    // Ignore fallbacks of fallbacks, because they could form a cycle.
    const { fallback: _further, ...section } = found.section
    return withLimiter(build, section, found.at, priority)
  })
  return fallback([first, ...(await Promise.all(others))])
}

/** Creates the model of a section. If the section has a limiter, the limiter queues calls. */
async function withLimiter(build: Build, { limiter: section, ...own }: AskedSection, at: Path, priority: Priority): Promise<Model> {
  const model = await madeModel(build, own, at)
  if (section === undefined) return model
  const { maxWaitMs, ...limits } = optionsOf(limiterKeys, section, [...at, 'limiter'])
  const turns = shared(build.limiters, at.join('.'), () => limiter(limits))
  return limited(model, turns, { priority, ...(maxWaitMs !== undefined && { maxWaitMs }) })
}

function hostModel({ host }: Build, id: string, model: string | undefined, path: Path): Model {
  const found = host.models !== undefined ? ownOf(host.models, id) : undefined
  if (found === undefined) {
    const known = Object.keys(host.models ?? {}).join(', ') || 'none'
    throw fieldError(
      'badReference',
      path,
      `${fieldOf(path)} names the model ${JSON.stringify(id)}, which the host does not define. It defines: ${known}.`,
    )
  }
  if (model === undefined || model === found.config.id) return found
  const config = { ...found.config, id: model, name: model }
  try {
    checkVendor(config)
  } catch (error) {
    throw inSection(error, { model }, path, { model, path: [...path.slice(0, -1), 'model'] })
  }
  return { ...found, config }
}

/** Resolves `provider` to a host model or to a section. The key identifies a shared model. */
function sectionOrModel(
  build: Build,
  provider: string | undefined,
  model: string | undefined,
  path: Path,
): Model | { section: ModelSection; at: Path; key?: string } {
  const { config, entities } = build
  if (provider === undefined) {
    const { instances: _, ...section } = config.provider ?? {}
    return { section, at: ['provider'], key: 'provider' }
  }
  const reference = parseReference(provider)
  if (reference !== undefined && reference !== 'malformed' && reference.isSystem) return hostModel(build, reference.name, model, path)
  const { entity, isShared } = resolveName(entities, provider, 'provider', path)
  const section = config.provider?.instances?.[Number(entity.path.at(-1))] ?? {}
  return { section, at: entity.path, ...(isShared && { key: entity.name }) }
}

/** A section whose model a sub-agent may override. */
interface AskedSection extends ModelSection {
  asked?: AskedModel
}

/** Omits the section's name, which belongs to the original model. */
function withModel({ name: _, ...section }: ModelSection, asked: AskedModel): AskedSection {
  return { ...section, asked }
}

async function madeModel({ host, config, raw }: Build, { asked, ...given }: AskedSection, path: Path): Promise<Model> {
  const written = asked === undefined ? given : { ...given, model: asked.model }
  const id = written.model ?? ''
  if (id.trim() === '')
    throw invalidField(
      [...path, 'model'],
      written.model,
      'the id of a model, such as "claude-sonnet-5"',
      written.model === undefined ? 'The key is model in the section provider.' : '',
    )
  const own = await host.createModel?.(written)
  if (own !== undefined) {
    checkOptions(own, aModel, 'createModel()')
    return own
  }
  const { section, protocol } = await servedSection(given, asked, path)
  if (protocol === undefined) throw invalidField([...path, 'api'], section.api, protocolWords.join(', '))
  if (!isKnown(protocol)) {
    throw fieldError(
      'unsupported',
      [...path, 'api'],
      `${fieldOf([...path, 'api'])} is "${protocol}", which only the host can create. Pass createModel.`,
    )
  }
  checkOnlyFor(section, protocol, path)
  checkAddress(section, path)
  const options = { ...factoryOptions(section, path), ...(host.fetch !== undefined && { fetch: host.fetch }) }
  const model = await factories[protocol](section.model ?? '', options).catch((error: unknown) => {
    throw inSection(error, section, path, asked)
  })
  checkKeyHost(rawSection(raw, path), model.config.baseUrl, path)
  if (section.catalogue === true && config.execution?.max_cost !== undefined && !hasRates(model.config)) throw unpriced(id, path)
  if (model.unusable === undefined) return model
  // The factory's error shows code syntax for its environment variable. Files use different syntax.
  const [, variable = 'MY_KEY'] = /process\.env\.(\w+)/.exec(model.unusable) ?? []
  const advice = `Name an environment variable, such as api_key = "\${${variable}}", or set base_url to a server that needs no key.`
  const message = `${fieldOf([...path, 'api_key'])} is missing or empty, so model ${JSON.stringify(id)} has no key. ${advice}`
  throw fieldError('invalidField', [...path, 'api_key'], message)
}

/** Returns the section at `path` before substitution. */
function rawSection(raw: AgentConfig, path: Path): ModelSection {
  return modelsIn(raw).find(([, at]) => fieldOf(at) === fieldOf(path))?.[0] ?? {}
}

/** Error for a section that requests catalogue prices that do not exist for this model. */
function unpriced(id: string, path: Path): ConfigError {
  const at = [...path, 'catalogue']
  const message = `${fieldOf(at)} has no prices for ${JSON.stringify(id)}, so execution.max_cost cannot be enforced. Add its rates to [${fieldOf(path)}.cost].`
  return fieldError('invalidField', at, message)
}

/** Hides the URL, because it may contain a key. */
function checkAddress({ base_url }: ModelSection, path: Path): void {
  if (base_url === undefined || base_url === '' || /^https?:$/.test(URL.parse(base_url)?.protocol ?? '')) return
  const at = [...path, 'base_url']
  throw fieldError('invalidField', at, `${fieldOf(at)} must be an absolute http or https URL.`)
}

/**
 * Translates a factory error to the file's keys. The error points at the key that its message begins with, or otherwise at the section.
 */
function inSection(error: unknown, section: ModelSection, path: Path, asked?: AskedModel): unknown {
  if (!ConfigError.isInstance(error)) return error
  const keys = Object.keys(section)
  // Messages may also suggest keys that the section does not set.
  const why = [...keys, 'base_url', 'api_key'].reduce(
    (message, key) => message.replaceAll(new RegExp(`\\b${optionName(key)}\\b`, 'g'), key),
    error.message,
  )
  const key = keys.find((name) => new RegExp(`^${name}[ .:[]`).test(why))
  const at = key === undefined ? path : key === 'model' && asked !== undefined ? asked.path : [...path, key]
  return fieldError('invalidField', at, `${fieldOf(at)} cannot be used: ${why}`, error)
}

function isKnown(protocol: string): protocol is KnownApi {
  return Object.hasOwn(factories, protocol)
}

function checkOnlyFor(section: ModelSection, protocol: KnownApi, path: Path): void {
  for (const [key, value] of Object.entries(section)) {
    const api = ownOf<Key>(modelKeys, key)?.onlyFor
    if (api !== undefined && value !== undefined && protocolOf(api) !== protocol)
      throw invalidField([...path, key], value, `nothing: it is for api = "${api}"`)
  }
}

/** Translates a section to factory options, without unset ones. */
function factoryOptions(section: ModelSection, path: Path): FactoryOptions {
  const { model: _, api: __, limiter: ___, fallback: ____, api_key, catalogue: isPriced, cost, compat, ...own } = section
  return {
    ...optionsOf(modelKeys, own, path),
    // A blank key counts as unset, because local servers do not need a key.
    ...(api_key !== undefined && api_key.trim() !== '' && { apiKey: api_key }),
    ...(isPriced === true && { catalogue }),
    ...(cost !== undefined && { cost: costOf(cost, [...path, 'cost']) }),
    ...(compat !== undefined && Object.keys(compat).length > 0 && { compat: optionsOf(compatKeys, compat, [...path, 'compat']) }),
  }
}

const free: TokenRates = { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }

function costOf({ tiers, ...base }: CostSection, path: Path): CostConfig {
  const rates = { ...free, ...optionsOf(costKeys, base, path) }
  // Cache writes with a one-hour lifetime use the tier's own rate.
  const { cacheWrite1hPerMillion: _, ...short } = rates
  return { ...rates, ...(tiers !== undefined && { tiers: tiers.map((tier) => ({ ...short, ...optionsOf(costTierKeys, tier, path) })) }) }
}
