//! Graph algorithms against a simple transitive closure.
use guard_automata::graph::{
    Digraph, DigraphBuilder, NodeSet, backward, bottom, components, ctl, forward, shortest_path,
};
use proptest::prelude::*;

fn graphs() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1usize..12).prop_flat_map(|n| {
        let node = 0..n as u32;
        (
            Just(n),
            prop::collection::vec((node.clone(), node), 0..3 * n),
        )
    })
}

/// `closure[a][b]`: a path of any length leads from `a` to `b`, all of it within the set.
fn closure(n: usize, edges: &[(u32, u32)], within: &NodeSet) -> Vec<Vec<bool>> {
    let mut reach = vec![vec![false; n]; n];
    for node in within.ones() {
        reach[node][node] = true;
    }
    for &(from, to) in edges {
        if within.contains(from as usize) && within.contains(to as usize) {
            reach[from as usize][to as usize] = true;
        }
    }
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                reach[from][to] |= reach[from][via] && reach[via][to];
            }
        }
    }
    reach
}

crate::random::tests! {
    256 cases;

    #[test]
    fn components_are_the_classes_of_mutual_reachability((n, edges) in graphs(), bits in any::<u16>()) {
        let graph = Digraph::from_edges(n, &edges).unwrap();
        let within = graph.set((0..n as u32).filter(|node| bits >> node & 1 == 1));
        let reach = closure(n, &edges, &within);
        let found = components(&graph, Some(&within));
        prop_assert_eq!(found.iter().map(<[u32]>::len).sum::<usize>(), within.count_ones(..));
        for a in 0..n as u32 {
            prop_assert_eq!(found.of(a).is_some(), within.contains(a as usize));
            for b in 0..n as u32 {
                let mutual = reach[a as usize][b as usize] && reach[b as usize][a as usize];
                prop_assert_eq!(found.same(a, b), mutual);
                if reach[a as usize][b as usize] {
                    prop_assert!(found.of(a) >= found.of(b), "reverse topological order");
                }
            }
        }
        for component in 0..found.len() {
            for &node in found.members(component) {
                prop_assert_eq!(found.of(node), Some(component));
            }
        }
    }

    #[test]
    fn bottom_components_are_never_left((n, edges) in graphs()) {
        let graph = Digraph::from_edges(n, &edges).unwrap();
        let reach = closure(n, &edges, &graph.all());
        let found = components(&graph, None);
        let bottoms = bottom(&graph, &found);
        for component in 0..found.len() {
            let node = found.members(component)[0] as usize;
            let stays = (0..n).all(|other| !reach[node][other] || reach[other][node]);
            prop_assert_eq!(bottoms.contains(&component), stays);
        }
    }

    #[test]
    fn backward_is_the_least_fixpoint_of_until((n, edges) in graphs(), a in any::<u16>(), b in any::<u16>()) {
        let graph = Digraph::from_edges(n, &edges).unwrap();
        let through = graph.set((0..n as u32).filter(|node| a >> node & 1 == 1));
        let targets = graph.set((0..n as u32).filter(|node| b >> node & 1 == 1));
        let mut until = targets.clone();
        for _ in 0..n {
            for &(from, to) in &edges {
                if through.contains(from as usize) && until.contains(to as usize) {
                    until.insert(from as usize);
                }
            }
        }
        prop_assert_eq!(backward(&graph.reversed(), &targets, Some(&through)), until.clone());
        let free = backward(&graph.reversed(), &targets, None);
        prop_assert_eq!(&forward(&graph.reversed(), &targets, None), &free);

        let mut start = graph.none();
        start.insert(0);
        let path = shortest_path(&graph, &start, &targets, Some(&through));
        prop_assert_eq!(path.is_some(), until.contains(0));
        if let Some(path) = path {
            prop_assert_eq!(path[0], 0);
            prop_assert!(targets.contains(path[path.len() - 1] as usize));
            for step in path.windows(2) {
                prop_assert!(through.contains(step[0] as usize));
                prop_assert!(graph.successors(step[0]).contains(&step[1]));
            }
        }
    }

    #[test]
    fn ctl_is_what_its_fixpoints_say((n, edges) in graphs(), a in any::<u16>(), b in any::<u16>()) {
        // Every node gets an edge to itself or its neighbour, so that the relation is total.
        let mut edges = edges;
        edges.extend((0..n as u32).map(|node| (node, (node + u32::from(a >> node & 1)) % n as u32)));
        let graph = Digraph::from_edges(n, &edges).unwrap();
        let before = graph.reversed();
        let p = graph.set((0..n as u32).filter(|node| a >> node & 1 == 1));
        let q = graph.set((0..n as u32).filter(|node| b >> node & 1 == 1));
        let some = |set: &NodeSet, node: usize| graph.successors(node as u32).iter().any(|&to| set.contains(to as usize));
        let all = |set: &NodeSet, node: usize| graph.successors(node as u32).iter().all(|&to| set.contains(to as usize));
        let least = |step: &dyn Fn(&NodeSet, usize) -> bool| {
            let mut set = graph.none();
            for _ in 0..=n {
                set = graph.set((0..n as u32).filter(|&node| step(&set, node as usize)));
            }
            set
        };
        let until = |next: &dyn Fn(&NodeSet, usize) -> bool| {
            least(&|set, node| q.contains(node) || (p.contains(node) && next(set, node)))
        };
        prop_assert_eq!(ctl::exists_until(&before, &p, &q), until(&some));
        prop_assert_eq!(ctl::always_until(&graph, &before, &p, &q), until(&all));
        // E G p = !A F !p, whose fixpoint is a least one.
        let fails = least(&|set, node| !p.contains(node) || all(set, node));
        let holds = graph.set((0..n as u32).filter(|&node| !fails.contains(node as usize)));
        prop_assert_eq!(ctl::exists_globally(&graph, &before, &p), holds);
        let next = graph.set((0..n as u32).filter(|&node| some(&p, node as usize)));
        prop_assert_eq!(ctl::exists_next(&before, &p), next);
    }

    #[test]
    fn reversing_twice_sorts_the_rows((n, edges) in graphs()) {
        let graph = Digraph::from_edges(n, &edges).unwrap();
        let mut sorted = edges.clone();
        sorted.sort();
        prop_assert_eq!(graph.reversed().reversed(), Digraph::from_edges(n, &sorted).unwrap());
    }
}

#[test]
fn a_path_of_a_million_nodes_needs_no_stack() {
    let n = 1_000_000u32;
    let mut builder = DigraphBuilder::with_capacity(n as usize, n as usize);
    for node in 0..n {
        builder.edge((node + 1) % n);
        builder.end_row();
    }
    let graph = builder.finish().unwrap();
    let found = components(&graph, None);
    assert_eq!(found.len(), 1);
    assert_eq!(bottom(&graph, &found), [0]);
}

#[test]
fn an_edge_to_no_node_is_refused() {
    assert!(Digraph::from_edges(2, &[(0, 2)]).is_err());
    let mut builder = DigraphBuilder::default();
    builder.edge(1);
    builder.end_row();
    assert!(builder.finish().is_err());
}
