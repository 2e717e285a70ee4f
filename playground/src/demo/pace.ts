/**
 * How many times as long the demo waits: `?pace=3` in the address is slow enough to talk along, `?pace=0` waits for nothing, as for a
 * picture or a test.
 */
export const pace: number = paceIn(location.search)

function paceIn(query: string): number {
  const asked = new URLSearchParams(query).get('pace')
  return asked !== null && /^\d{1,2}(?:\.\d+)?$/.test(asked) ? Number(asked) : 1
}
