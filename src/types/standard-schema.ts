import type { JsonSchema } from '../contract/json.ts'

/** One complaint of a schema. `path` leads from the root to the offending value. */
export interface SchemaIssue {
  message: string
  path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The outcome of a check: the (possibly transformed) value, or what is wrong with it. */
export type SchemaResult<Output> = { value: Output; issues?: undefined } | { issues: readonly SchemaIssue[] }

/**
 * The part of the Standard Schema v1 interface this package uses: validation, and JSON Schema where the library offers it.
 * Source: https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: { readonly input: (options: { target: string }) => JsonSchema }
  }
}

/** The type a Standard Schema produces. */
export type SchemaOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

/** The type a Standard Schema takes. */
export type SchemaInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input']

/**
 * Checks values against JSON Schemas. Filled by the interpreter in `validation/` (works without code generation) or by
 * `ajvValidator` of `phi-core/tools`.
 *
 * **Contract**
 * - `compile` throws `ConfigError` for a schema it cannot enforce in full; it is called once per schema.
 * - The returned function never throws and never changes its argument.
 */
export interface SchemaValidator {
  compile(schema: JsonSchema): (value: unknown) => SchemaResult<unknown>
}
