import type { JsonOf } from '../../contract/json.ts'
import type { SchemaOutput, StandardSchema } from '../standard-schema.ts'

/** Options for a data part. */
export interface DataOptions {
  /** Part id, 1 to 200 characters. A later part with the same name and id replaces this part. Default: a new id. */
  id?: string
  /** Sends the part to connected clients without storing it in the session. Default: `false`. */
  transient?: boolean
}

/**
 * Sends a named JSON value to the session's user interfaces. The value is never sent to a model.
 *
 * **Contract**
 * - Emits a `data` event. Unless `transient`, the part is stored at the end of the turn as an extension message.
 * - A part replaces any earlier part with the same `name` and `id`, wherever parts are shown.
 * - Throws `ConfigError` `invalidOption` for an invalid name, a value that is not JSON or exceeds 256 KiB, or a value that violates the
 *   agent's `data` schema. If the agent sets `data`, only names listed there are valid.
 *
 * Source: docs/guides/data-for-pages.md
 */
export type SendData = (name: string, value: unknown, options?: DataOptions) => void

/** Schemas of data parts, by name. */
export type DataSchemas = Readonly<Record<string, StandardSchema>>

/** Value types of data parts, by name. */
export type DataTypes = Record<string, unknown>

/** Maps schemas of data parts to the types of their values. */
export type TypesOfData<Schemas extends DataSchemas> = {
  -readonly [Name in keyof Schemas]: JsonOf<SchemaOutput<Schemas[Name]>>
}

/**
 * Infers the value types of an agent's data parts by name, or those of its `data` schemas. Use it in a client of a remote session:
 * `useAgent<InferTools<typeof agent>, InferData<typeof agent>>(session)`.
 *
 * Source: docs/guides/data-for-pages.md
 */
export type InferData<Source> = Source extends { readonly '~data'?: (infer Types extends DataTypes) | undefined }
  ? Types
  : Source extends DataSchemas
    ? TypesOfData<Source>
    : DataTypes
