const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Keywords of JSON Schema whose value is one schema. */
export const schemaKeywords: ReadonlySet<string> = words(
  'items additionalProperties not if then else contains propertyNames unevaluatedProperties unevaluatedItems',
)
/** Keywords of JSON Schema whose value is a list of schemas. */
export const schemaListKeywords: ReadonlySet<string> = words('anyOf oneOf allOf prefixItems')
/** Keywords of JSON Schema whose value has schemas under names of its author. */
export const namedSchemaKeywords: ReadonlySet<string> = words('properties patternProperties $defs definitions dependentSchemas')
/** Keywords of JSON Schema whose value is data, in which no schema is looked for. */
export const dataKeywords: ReadonlySet<string> = words('const enum default example examples')
