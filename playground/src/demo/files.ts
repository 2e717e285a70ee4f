/** The first winter's archive, which is too long for the demo model's context window. */
export const archive: Record<string, string> = Object.fromEntries(
  ['october', 'november', 'december', 'january', 'february', 'march', 'april'].map((month, at) => [
    `archive/${month}.md`,
    monthOf(month, at),
  ]),
)

/** The demo's files: a small logbook in memory, lost on reload. */
export const files: Record<string, string> = {
  'README.md': `# Logbook of the Fram\n\nOne file per day in log/. Temperatures in degrees Celsius.\n`,
  'log/monday.md': 'Wind: north-west, force 4\nTemperature: -11\nSighted two walruses. The ice is drifting south.\n',
  'log/tuesday.md':
    'Wind: calm\nTemperature: -17\nNo movement. Repaired the sledge. The depot lies under the cairn, 40 paces east of the ship.\n',
  'log/wednesday.md': 'Wind: south, force 6\nTemperature: -6\nOpen water ahead. Sighted one walrus.\n',
  'crew.txt': 'Nansen, leader\nSverdrup, captain\nBlessing, doctor\nJohansen, stoker\n',
  'engine.log': Array.from({ length: 80 }, (_, line) => engineLine(line)).join('\n'),
  ...archive,
}

function engineLine(line: number): string {
  const time = `Tuesday ${String(8 + Math.floor(line / 8)).padStart(2, '0')}:${String((line % 8) * 7).padStart(2, '0')}`
  return line === 50
    ? 'Tuesday 14:20 WARNING bearing 2 runs hot, 84 °C'
    : `${time} boiler ${(10.2 + (line % 5) / 10).toFixed(1)} bar, routine`
}

function monthOf(month: string, at: number): string {
  const days = Array.from({ length: 28 }, (_, day) => {
    const degrees = -12 - at * 3 - ((day * 7) % 11)
    return `${day + 1} ${month}. Wind ${['calm', 'north', 'north-west', 'south-east'][(day + at) % 4]}, ${degrees} °C. Sounding ${1800 + day * 13 + at * 40} m, no bottom. Ice pressure ${['slight', 'none', 'strong'][(day * at) % 3]}; the ship ${day % 9 === 0 ? 'rose a hand' : 'lies still'}. Position ${(79 + at * 0.4).toFixed(1)}° N. ${['Bears were seen', 'The windmill turned', 'The dogs fought', 'Nobody left the ship'][(day + 2 * at) % 4]}; the readings were taken at eight, noon and six.`
  })
  return `# ${month}\n\n${days.join('\n')}\n`
}
