// Words of points and moving along long series; the page says all without it.
(() => {
  'use strict';
  const word = document.body.dataset;
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  tip.setAttribute('role', 'status');
  document.body.append(tip);

  const strip = path => ({
    path,
    words: (path.dataset.tip || '').split('|'),
    points: [...path.getAttribute('d').matchAll(/M(-?[\d.]+) (-?[\d.]+)h0/g)].map(m => [+m[1], +m[2]]),
  });

  const series = svg => {
    const field = svg.querySelector('.field');
    if (!field) return;
    const left = +field.getAttribute('x'), width = +field.getAttribute('width');
    const strips = [...svg.querySelectorAll('.dots')].map(strip);
    const told = strips.filter(s => s.words[0] !== '');
    const marks = [...svg.querySelectorAll('[data-at]')];
    const here = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
    here.setAttribute('class', 'here');
    here.setAttribute('r', '5');
    let from = left, to = left + width, row = 0, at = -1;

    const place = x => left + (x - from) * width / (to - from);
    const inside = x => x >= from - 0.5 && x <= to + 0.5;
    const hide = () => { tip.hidden = true; here.remove(); };
    const draw = () => {
      hide();
      for (const s of strips)
        s.path.setAttribute('d', s.points.filter(p => inside(p[0])).map(p => `M${+place(p[0]).toFixed(1)} ${p[1]}h0`).join(''));
      for (const m of marks) {
        const x = +m.dataset.at;
        m.style.display = inside(x) ? '' : 'none';
        for (const name of m.tagName === 'line' ? ['x1', 'x2'] : ['x']) m.setAttribute(name, place(x));
      }
    };
    const look = (a, b) => {
      const w = Math.min(Math.max(b - a, width / 200), width);
      from = Math.min(Math.max((a + b - w) / 2, left), left + width - w);
      to = from + w;
      draw();
    };
    const zoom = f => { const c = (from + to) / 2, h = (to - from) * f / 2; look(c - h, c + h); };
    const move = f => { const d = (to - from) * f; look(from + d, to + d); };
    const show = () => {
      const s = told[row], p = s && s.points[at];
      if (!p) return;
      if (!inside(p[0])) { const h = (to - from) / 2; look(p[0] - h, p[0] + h); }
      here.setAttribute('cx', place(p[0]));
      here.setAttribute('cy', p[1]);
      svg.append(here);
      tip.textContent = s.words[at];
      tip.hidden = false;
      const box = here.getBoundingClientRect();
      const x = Math.min(box.right + 8, document.documentElement.clientWidth - tip.offsetWidth - 8);
      tip.style.left = `${Math.max(x, 8) + scrollX}px`;
      tip.style.top = `${box.top + scrollY - 28}px`;
    };
    const where = e => {
      const m = svg.getScreenCTM();
      return [(e.clientX - m.e) / m.a, (e.clientY - m.f) / m.d];
    };

    svg.addEventListener('pointermove', e => {
      const [x, y] = where(e);
      let best = 14;
      at = -1;
      told.forEach((s, i) => s.points.forEach((p, j) => {
        const d = inside(p[0]) ? Math.hypot(place(p[0]) - x, p[1] - y) : Infinity;
        if (d < best) { best = d; row = i; at = j; }
      }));
      if (at < 0) hide(); else show();
    });
    svg.addEventListener('pointerleave', hide);
    svg.addEventListener('blur', hide);
    svg.setAttribute('tabindex', '0');
    svg.addEventListener('keydown', e => {
      const n = told.length;
      const keys = {
        ArrowRight: () => { at = Math.min(at + 1, told[row].points.length - 1); show(); },
        ArrowLeft: () => { at = Math.max(at - 1, 0); show(); },
        ArrowDown: () => { row = (row + 1) % n; at = Math.max(at, 0); show(); },
        ArrowUp: () => { row = (row + n - 1) % n; at = Math.max(at, 0); show(); },
        '+': () => zoom(0.5), '-': () => zoom(2), '0': () => look(left, left + width), Escape: hide,
      };
      if (!n || !keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      keys[e.key]();
    });

    const tools = document.createElement('div');
    tools.className = 'tools';
    const button = (text, label, act) => {
      const b = document.createElement('button');
      b.type = 'button';
      b.textContent = text;
      b.setAttribute('aria-label', label);
      b.addEventListener('click', act);
      tools.append(b);
    };
    button('+', word.in, () => zoom(0.5));
    button('−', word.out, () => zoom(2));
    button('←', word.earlier, () => move(-0.5));
    button('→', word.later, () => move(0.5));
    button(word.all, word.whole, () => look(left, left + width));
    tools.append(word.keys);
    svg.before(tools);
  };
  document.querySelectorAll('svg.series.wide').forEach(series);

  // A chart as a file: its styles are written into a copy of it.
  const styles = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'opacity', 'paint-order', 'font-size', 'font-weight', 'font-family', 'text-anchor', 'display'];
  const alone = svg => {
    const copy = svg.cloneNode(true);
    const from = [svg, ...svg.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
    from.forEach((e, i) => {
      const s = getComputedStyle(e);
      for (const name of styles) {
        const v = s.getPropertyValue(name);
        if (v && !(name === 'fill' && e.getAttribute('fill')?.startsWith('url'))) to[i].setAttribute(name, v);
      }
      to[i].removeAttribute('data-tip');
    });
    const [, , w, h] = svg.getAttribute('viewBox').split(' ').map(Number);
    copy.setAttribute('width', w);
    copy.setAttribute('height', h);
    const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    ground.setAttribute('width', w);
    ground.setAttribute('height', h);
    ground.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
    copy.prepend(ground);
    return { w, h, url: 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(new XMLSerializer().serializeToString(copy)) };
  };
  const save = (url, name) => {
    const a = document.createElement('a');
    a.href = url;
    a.download = name;
    a.click();
  };
  document.querySelectorAll('figure').forEach(figure => {
    const shown = () => [...figure.querySelectorAll('svg')].find(s => s.getClientRects().length);
    const name = 'tare-' + figure.id.replace(/-figure$/, '');
    const p = document.createElement('p');
    p.className = 'data save';
    const button = (text, act) => {
      const b = document.createElement('button');
      b.type = 'button';
      b.textContent = text;
      b.addEventListener('click', act);
      p.append(b);
    };
    button('SVG', () => save(alone(shown()).url, name + '.svg'));
    button('PNG', () => {
      const { w, h, url } = alone(shown()), image = new Image();
      image.onload = () => {
        const c = document.createElement('canvas');
        c.width = 2 * w;
        c.height = 2 * h;
        const g = c.getContext('2d');
        g.scale(2, 2);
        g.drawImage(image, 0, 0, w, h);
        save(c.toDataURL('image/png'), name + '.png');
      };
      image.src = url;
    });
    figure.querySelector('figcaption').after(p);
  });
})();
