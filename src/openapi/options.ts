import { aLogger } from '../base/argument-checks.ts'
import { isNamed, PhiError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { headerFields, isHeaderName } from '../contract/model/request-settings.ts'
import {
  aFlag,
  aFunction,
  anObject,
  aPositiveNumber,
  aSignal,
  aText,
  either,
  kind,
  listOf,
  type OptionTable,
  oneOf,
  options,
  recordOf,
  required,
  texts,
  wholeFrom,
  withMethods,
} from '../contract/shape/shape.ts'
import type { Logger } from '../types/logger.ts'
import type { Workspace } from '../types/tool/workspace.ts'

/**
 * Why no tools could be made of a document. `invalidDocument`: it cannot be read, or leads to what is not there; `unsupportedVersion`: it is no
 * OpenAPI 3; `noServer`: nobody says where to call; `unavailable`: it could not be fetched.
 */
export type OpenApiErrorCode = 'invalidDocument' | 'unsupportedVersion' | 'noServer' | 'unavailable'

/** An OpenAPI document that cannot be used. Source: docs/guides/openapi.md */
export class OpenApiError extends PhiError<OpenApiErrorCode> {
  override readonly name = 'OpenApiError'

  static override isInstance(value: unknown): value is OpenApiError {
    return isNamed(value, 'OpenApiError')
  }
}

/** Milliseconds for a call, for a document, and for each of its files. */
export const defaultTimeoutMs = 30_000

/** A key, or where to get one at each call. A function gets the signal of the call. */
export type OpenApiSecret = string | ((signal: AbortSignal) => string | Promise<string>)

/** What a security scheme asks for: a key or token, or the name and password of `basic`. */
export type OpenApiCredential = OpenApiSecret | { username: string; password: string }

/** Which operations become tools: those that fit all that is given. */
export interface OperationFilter {
  operationIds?: readonly string[]
  /** Operations with at least one of these tags. */
  tags?: readonly string[]
  /** What the path begins with, such as `/repos`. */
  pathPrefix?: string
}

/** An operation, as rules about it see it. */
export interface OperationInfo {
  /** The name of its tool. */
  name: string
  /** Absent where the document has none. */
  operationId?: string
  /** In capitals. */
  method: string
  /** As in the document, with `{parameters}`. */
  path: string
  tags: readonly string[]
}

/**
 * Whether a person is asked before a call: always, never, before everything but GET and HEAD (`unsafe`), or as the operation and the arguments
 * require. Only `false` does not ask.
 */
export type OperationApproval = boolean | 'unsafe' | ((operation: OperationInfo, args: JsonObject) => boolean | Promise<boolean>)

/**
 * Reads a file that a document leads to, as text or as what was parsed of it: `url` is its address where the document was fetched, else its path, from the root of
 * the workspace or from where the document is. Rejects where it cannot be had.
 */
export type OpenApiResolver = (url: string, context: { signal: AbortSignal }) => Promise<string | object>

/** How tools are made of an OpenAPI document, and how they call. Source: docs/guides/openapi.md */
export interface OpenApiToolsOptions {
  /** Default: `all`. */
  filter?: 'all' | OperationFilter
  /** Replaces every server of the document. Absolute, http or https. */
  baseUrl?: string
  /** Values for the variables of the document's servers. Default: the document's. */
  serverVariables?: Readonly<Record<string, string>>
  /** Sent with every call as `Authorization: Bearer …`. */
  bearer?: OpenApiSecret
  /** Sent with every call in this header. */
  apiKey?: { header: string; value: OpenApiSecret }
  /** By the name of a security scheme in the document; sent where an operation asks for that scheme. */
  credentials?: Readonly<Record<string, OpenApiCredential>>
  /** Sent with every call; replaces headers that arguments and credentials set. */
  headers?: Readonly<Record<string, string>>
  /** Milliseconds for one call, with its answer. An agent's `toolTimeoutMs` applies as well. Default 30,000. */
  timeoutMs?: number
  /** Bytes of an answer that are read and shown. Default 65,536. */
  maxResponseBytes?: number
  /** Characters of a document that is YAML. A million takes about a second, in which the thread does nothing else. Default 1,048,576. */
  maxYamlChars?: number
  /** Reads the other files of a document that lies in several; each may take `timeoutMs`. Default: such a document is refused. */
  resolve?: OpenApiResolver
  /** Makes `prefix__operationId` of the names. */
  namePrefix?: string
  /** Names operations without an `operationId` from method and path. Default: they are skipped. */
  nameUnnamed?: boolean
  /** Default: the rule of the agent. */
  needsApproval?: OperationApproval
  /** Default: the platform's. */
  fetch?: typeof fetch
  /** Hears of what was skipped and of what a schema says that cannot be enforced. Default: the console; `false` silences. */
  logger?: Logger | false
}

/** How tools are made of a document in a workspace: as {@link OpenApiToolsOptions}, and where the file is. */
export interface ReadOpenApiOptions extends OpenApiToolsOptions {
  /** Where the file is. */
  workspace: Workspace
}

/** How tools are made of a document on the web: as {@link OpenApiToolsOptions}, and the bounds of its download. */
export interface FetchOpenApiOptions extends OpenApiToolsOptions {
  /** Bytes of the document. Default 64 MiB. */
  maxDocumentBytes?: number
  /** Stops the download. */
  signal?: AbortSignal
}

const aSecret = either(aText, aFunction)
const headerName = kind('the name of a header', (value) => typeof value === 'string' && isHeaderName(value))
const filterTable: OptionTable<OperationFilter> = { operationIds: listOf(aText), tags: listOf(aText), pathPrefix: aText }
const basic = options<{ username: string; password: string }>({ username: required(aText), password: required(aText) })

const table: OptionTable<OpenApiToolsOptions> = {
  filter: either(oneOf('all'), options(filterTable)),
  baseUrl: aText,
  serverVariables: texts,
  bearer: aSecret,
  apiKey: options<{ header: string; value: OpenApiSecret }>({ header: required(headerName), value: required(aSecret) }),
  credentials: recordOf(either(aSecret, basic)),
  headers: headerFields,
  timeoutMs: aPositiveNumber,
  maxResponseBytes: wholeFrom(1),
  maxYamlChars: wholeFrom(1),
  resolve: aFunction,
  namePrefix: aText,
  nameUnnamed: aFlag,
  needsApproval: either(aFlag, aFunction, oneOf('unsafe')),
  fetch: aFunction,
  logger: aLogger,
}

/** What `openApiTools` takes. */
export const toolsOptions = options(table)
/** What `readOpenApiTools` takes. */
export const readOptions = options<ReadOpenApiOptions>({
  ...table,
  workspace: required(withMethods('a workspace', 'read', 'stat')),
})
/** What `fetchOpenApiTools` takes. */
export const fetchOptions = options<FetchOpenApiOptions>({ ...table, maxDocumentBytes: wholeFrom(1), signal: aSignal })
/** A document that is already parsed, or its text. */
export const aDocumentOrText = either(aText, anObject)
