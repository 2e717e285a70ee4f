/** The value of a JSON text; `undefined` where it is none. For what somebody else wrote, and is checked afterwards. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
