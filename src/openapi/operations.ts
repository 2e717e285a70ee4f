import { logWarning } from '../base/log-warning.ts'
import { isObject, type JsonValue } from '../contract/json.ts'
import type { Logger } from '../types/logger.ts'
import { dereference, field, howToBundle, isElsewhere, listField, type OpenApiDocument, shownRef, textField } from './document.ts'
import { legalNames, nameOfPlace } from './operation-names.ts'
import { OpenApiError, type OpenApiToolsOptions, type OperationInfo } from './options.ts'

/** An operation of a document, with the objects that describe it. */
export interface Operation extends OperationInfo {
  readonly node: unknown
  readonly item: unknown
}

/** In the order of the specification. `fetch` cannot send TRACE. */
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/**
 * Returns the operations that `options` selects, named and in document order. Logs operations that are skipped because they are broken.
 *
 * Throws `OpenApiError` `invalidDocument` if there are none to select from, or if some are in other files and there is no `resolve`.
 */
export function operationsOf(api: OpenApiDocument, options: OpenApiToolsOptions): Operation[] {
  const { namePrefix, nameUnnamed = false, filter, logger } = options
  assertWhole(api, options)
  const all = everyOperation(api, logger)
  const isNamed = ({ operationId }: Unnamed): boolean => operationId !== undefined || nameUnnamed
  const unnamed = all.filter((operation) => !isNamed(operation) && fits(operation, filter))
  if (unnamed.length > 0) warn(logger, 'openApiOperationsWithoutId', unnamed)
  const named = all.filter(isNamed)
  if (named.length === 0) throw nothingUsable(all.length)
  const prefix = namePrefix === undefined || namePrefix === '' ? '' : `${namePrefix}__`
  const names = legalNames(
    named.map(({ operationId, method, path }) => ({
      name: prefix + (operationId ?? nameOfPlace(method, path)),
      place: `${method} ${path}`,
    })),
  )
  const chosen = named.map((operation, at) => ({ ...operation, name: names[at] ?? '' })).filter((operation) => fits(operation, filter))
  warnOfTwins(chosen, logger)
  warnOfMissing(chosen, options)
  return chosen
}

type Unnamed = Omit<Operation, 'name'>

/** Throws if paths or operations are in other files, because otherwise tools or their arguments would be silently missing. */
function assertWhole(api: OpenApiDocument, { filter }: OpenApiToolsOptions): void {
  if (api.isBundled === true) return
  const prefix = (typeof filter === 'object' ? filter.pathPrefix : undefined) ?? ''
  const paths = field(api.root, 'paths')
  const places: (readonly [string, unknown])[] = [['paths', paths]]
  for (const [path, item] of pathsOf(api)) {
    if (!path.startsWith(prefix)) continue
    places.push([path, item], ...methods.map((method) => [`${method.toUpperCase()} ${path}`, field(item, method)] as const))
  }
  const missing = places.flatMap(([place, node]) => {
    const ref = field(node, '$ref')
    return isElsewhere(ref) ? [`${place} in ${shownRef(ref)}`] : []
  })
  const [first] = missing
  if (first === undefined) return
  const which = missing.length === 1 ? first : `${missing.length} paths or operations, such as ${first}`
  throw new OpenApiError('invalidDocument', `The OpenAPI document consists of several files (${which}): ${howToBundle}.`)
}

function nothingUsable(count: number): OpenApiError {
  const why =
    count === 0
      ? 'has no operation: "paths" is empty, or missing'
      : `has ${count} operations, none with an operationId: pass nameUnnamed: true, which names them after method and path`
  return new OpenApiError('invalidDocument', `The OpenAPI document ${why}.`)
}

function pathsOf(api: OpenApiDocument): [string, unknown][] {
  const paths = dereference(api, field(api.root, 'paths'))
  return isObject(paths) ? Object.entries(paths) : []
}

function everyOperation(api: OpenApiDocument, logger: Logger | false | undefined): Unnamed[] {
  const found: Unnamed[] = []
  for (const [path, written] of pathsOf(api)) {
    const target = dereference(api, written)
    // Skip a path that could select another host or leave the server's path.
    const isUsable = isObject(target) && isObject(written) && path.startsWith('/') && !hasDotSegment(path)
    if (!isUsable) {
      if (!path.startsWith('x-')) logWarning(logger, 'openApiPathSkipped', { path: path.slice(0, 200) })
      continue
    }
    const item = target === written ? target : { ...target, ...written }
    for (const method of methods) {
      const node = dereference(api, field(item, method))
      if (!isObject(node)) continue
      const operationId = textField(node, 'operationId')
      const tags = listField(node, 'tags').filter((tag) => typeof tag === 'string')
      found.push({ method: method.toUpperCase(), path, tags, node, item, ...(operationId !== undefined && { operationId }) })
    }
    if (isObject(field(item, 'trace'))) logWarning(logger, 'openApiMethodSkipped', { operation: `TRACE ${path}` })
  }
  return found
}

/** Returns whether a path has a `.` or `..` segment, in any spelling that URL parsers accept. */
export function hasDotSegment(path: string): boolean {
  // URL parsers first drop line breaks and tabs.
  return path
    .replace(/[\t\n\r]/g, '')
    .split(/[/\\]/)
    .some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
}

function fits({ operationId, tags, path }: Unnamed, filter: OpenApiToolsOptions['filter']): boolean {
  if (filter === undefined || filter === 'all') return true
  const { operationIds, tags: wanted, pathPrefix } = filter
  if (operationIds !== undefined && (operationId === undefined || !operationIds.includes(operationId))) return false
  return (wanted === undefined || wanted.some((tag) => tags.includes(tag))) && (pathPrefix === undefined || path.startsWith(pathPrefix))
}

/** Logs a message that names at most 100 operations. */
function warn(logger: Logger | false | undefined, event: string, operations: readonly Unnamed[]): void {
  const shown: JsonValue = operations.slice(0, 100).map(({ method, path }) => `${method} ${path}`)
  logWarning(logger, event, { operations: shown, count: operations.length })
}

function warnOfTwins(operations: readonly Operation[], logger: Logger | false | undefined): void {
  const seen = new Set<string>()
  const twins = operations.filter(({ operationId }) => {
    if (operationId === undefined) return false
    const isTwin = seen.has(operationId)
    seen.add(operationId)
    return isTwin
  })
  if (twins.length > 0) warn(logger, 'openApiOperationIdTwice', twins)
}

function warnOfMissing(operations: readonly Operation[], { filter, logger }: OpenApiToolsOptions): void {
  if (typeof filter !== 'object') return
  const found = new Set(operations.map(({ operationId }) => operationId))
  const missing = (filter.operationIds ?? []).filter((id) => !found.has(id))
  if (missing.length > 0) logWarning(logger, 'openApiOperationsNotFound', { operationIds: missing })
  else if (operations.length === 0) logWarning(logger, 'openApiNothingFits', {})
}
