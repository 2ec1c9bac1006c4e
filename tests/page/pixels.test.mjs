// What is drawn: a cell's colour is that of its byte, masked cells are hatched.
import assert from 'node:assert/strict';
import { address, goTo, kinds, panel, settled, source, textOf } from './lab.mjs';

const cividis = ['00224e', '123570', '3b496c', '575d6d', '707173', '8a8678', 'a59c74', 'c3b369', 'e1cc55', 'fee838'].map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));

// Of a share of the scale, to 255 steps of it: the colour between its two neighbours.
function weightColour(share) {
  const at = (Math.round(share * 255) / 255) * (cividis.length - 1), i = Math.min(cividis.length - 2, Math.floor(at));
  return cividis[i].map((c, k) => Math.round(c + (at - i) * (cividis[i + 1][k] - c)));
}

async function bytesOf(lab, question) {
  const file = await lab.ask(question), view = new DataView(file), rank = view.getUint8(6);
  const shape = Array.from({ length: rank }, (_, i) => view.getUint32(8 + 4 * i, true));
  return { shape, cells: new Uint8Array(file, 16 + 4 * rank) };
}

// The colours within each cell, lines between cells left out: [r, g, b, a] of each that there is, by row and column.
const coloursOf = (canvas, rows, columns) => canvas.evaluate((element, [rows, columns]) => {
  const { left, top, cellWidth, cellHeight } = Object.fromEntries(Object.entries(element.dataset).map(([k, v]) => [k, Number(v)]));
  const dpr = devicePixelRatio, context = element.getContext('2d');
  const inside = (r, c) => {
    const x = Math.ceil((left + c * cellWidth + 2) * dpr), y = Math.ceil((top + r * cellHeight + 2) * dpr);
    const { data } = context.getImageData(x, y, Math.floor((cellWidth - 4) * dpr), Math.floor((cellHeight - 4) * dpr));
    const all = new Map(Array.from({ length: data.length / 4 }, (_, i) => [...data.slice(4 * i, 4 * i + 4)]).map((pixel) => [pixel.join(), pixel]));
    return [...all.values()];
  };
  return Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (_, c) => inside(r, c)));
}, [rows, columns]);

async function sameColours(lab, page, kind) {
  const { shape: [rows, columns], cells } = await bytesOf(lab, `traces/1/attention/${kind}/1/0/weights`);
  const colours = await coloursOf(panel(page, 'Softmax').locator('.heatmap-field canvas'), rows, columns);
  for (let r = 0; r < rows; ++r) {
    for (let c = 0; c < columns; ++c) {
      const byte = cells[r * columns + c], seen = colours[r][c];
      if (byte > 0) assert.deepEqual(seen, [[...weightColour((byte - 1) / 254), 255]], `${kind} [${r},${c}], byte ${byte}`);
      else assert.ok(seen.length > 1, `${kind} [${r},${c}] is masked and has one colour, ${seen}`);
    }
  }
  return { rows, columns, masked: cells.filter((byte) => byte === 0).length };
}

export default {
  'a weight has its colour, a masked cell its hatching': async (lab) => {
    for (const theme of ['light', 'dark']) {
      await lab.page({ theme }, async (page) => {
        for (const kind of theme === 'light' ? kinds : ['decoder']) {
          await goTo(page, address('attention', { stack: kind, layer: 1, head: 0 }));
          await textOf(page.locator('main > .about'), new RegExp(`^${{ encoder: 'Encoder', decoder: 'Decoder', cross: 'Cross' }[kind]}.*layer 1, head 0`));
          await settled(page);
          const { rows, masked } = await sameColours(lab, page, kind);
          assert.equal(masked, kind === 'decoder' ? (rows * (rows - 1)) / 2 : 0, `masked cells of ${kind}`);
        }
      });
    }
  },

  'signed values go from blue to red': async (lab) => {
    const query = await lab.program.json('explain', source, '--model', lab.model, '--layer', 1, '--head', 0, '--step', 1);
    const { values } = query.steps.find((step) => step.name === 'query');
    await lab.page({ at: address('attention', { stack: 'cross', layer: 1, head: 0 }) }, async (page) => {
      await settled(page);
      const colours = await coloursOf(panel(page, 'Project').locator('.heatmap-field canvas').first(), values.length, values[0].length);
      const largest = Math.max(...values.flat().map(Math.abs));
      for (const [r, row] of values.entries()) {
        for (const [c, value] of row.entries()) {
          const [red, , blue] = colours[r][c][0];
          if (Math.abs(value) > largest / 20) assert.equal(Math.sign(red - blue), Math.sign(value), `[${r},${c}] of ${value} is red ${red}, blue ${blue}`);
          if (Math.abs(value) === largest) assert.deepEqual([red, blue], value > 0 ? [0x7a, 0x1f] : [0x12, 0x7a], 'the largest stands at the end of the scale');
        }
      }
    });
  },

  'the small maps of the heads show the same': async (lab) => {
    const { shape: [, heads, rows, columns], cells } = await bytesOf(lab, 'traces/1/attention/cross/overview?size=48');
    await lab.page({ at: address('heads') }, async (page) => {
      await settled(page);
      const tile = panel(page, 'Cross-attention').locator('.head-tile canvas').nth(heads + 1);  // layer 1, head 1
      const seen = await tile.evaluate((canvas, [rows, columns]) => Array.from({ length: rows * columns }, (_, i) => {
        const y = (Math.floor(i / columns) + 0.5) / rows, x = (i % columns + 0.5) / columns;
        return [...canvas.getContext('2d').getImageData(x * canvas.width, y * canvas.height, 1, 1).data];
      }), [rows, columns]);
      for (let r = 0; r < rows; ++r) {
        for (let c = 0; c < columns; ++c) {
          const byte = cells[((heads + 1) * rows + r) * columns + c];
          assert.deepEqual(seen[r * columns + c], [...weightColour((byte - 1) / 254), 255], `[${r},${c}]`);
        }
      }
    });
  },
};
